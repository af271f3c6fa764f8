-- PerUnit
SELECT
  g0,
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1,
  COALESCE(SUM(s2), 0) AS s2
FROM (
  SELECT
    g0,
    CAST(CASE WHEN s0 < 0 THEN 0 WHEN s0 > 3 THEN 3 ELSE s0 END AS INT) AS s0,
    CAST(CASE WHEN s1 < 0 THEN 0 WHEN s1 > 3 THEN 3 ELSE s1 END AS INT) AS s1,
    CAST(CASE
      WHEN s2 < (
        -150000
      )
      THEN (
        -150000
      )
      WHEN s2 > 150000
      THEN 150000
      ELSE s2
    END AS INT) AS s2
  FROM (
    SELECT
      g0,
      CASE
        WHEN n > 3
        THEN COALESCE(
          TRY_CAST(CAST(s0 AS INT128) * 3 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s0 AS INT128) * 3
          ) // n
        )
        ELSE s0
      END AS s0,
      CASE
        WHEN n > 3
        THEN COALESCE(
          TRY_CAST(CAST(s1 AS INT128) * 3 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s1 AS INT128) * 3
          ) // n
        )
        ELSE s1
      END AS s1,
      CASE
        WHEN n > 3
        THEN COALESCE(
          TRY_CAST(CAST(s2 AS INT128) * 3 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s2 AS INT128) * 3
          ) // n
        )
        ELSE s2
      END AS s2
    FROM (
      SELECT
        g0,
        n,
        COALESCE(s0, 0) AS s0,
        COALESCE(s1, 0) AS s1,
        COALESCE(
          TRY_CAST(TRY_CAST(s2 AS DECIMAL(15, 2)) * 100. AS INT128),
          TRY_CAST(TRY_CAST(s2 AS DECIMAL(35, 2)) * 100. AS INT128),
          0
        ) - CAST(m2 AS INT128) * 50000 AS s2
      FROM (
        SELECT
          u,
          g0,
          COUNT(*) AS n,
          COUNT(r0) AS s0,
          COUNT(r1) AS s1,
          SUM(CASE WHEN r2 < 0.00 THEN 0.00 WHEN r2 > 1000.00 THEN 1000.00 ELSE r2 END) AS s2,
          COUNT(r2) AS m2
        FROM (
          SELECT
            c10 AS u,
            d0.cell AS g0,
            c4 AS r0,
            c8 AS r1,
            c8 AS r2
          FROM (
            SELECT
              c1,
              c2,
              c4,
              c6,
              c8,
              c10 AS c10
            FROM (
              SELECT
                t."doctor_id" AS c1,
                t."specialty" AS c2
              FROM "doctors" AS t
            ) AS t0
            CROSS JOIN (
              SELECT
                t."visit_id" AS c4,
                t."doctor_id" AS c6,
                t."cost" AS c8,
                t."patient_id" AS c10
              FROM "visits" AS t
              WHERE
                NOT t."patient_id" IS NULL
            ) AS t1
            WHERE
              (
                c6 = c1
              )
          ) AS t
          JOIN "domain 0" AS d0
            ON c2 = d0.k0
        ) AS t
        GROUP BY
          u,
          g0
      ) AS t
    ) AS t
  ) AS t
) AS t
GROUP BY
  g0
