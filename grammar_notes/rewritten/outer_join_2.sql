-- PerUnit
SELECT
  COALESCE(SUM(TRY(s0)), 0) AS s0,
  COALESCE(SUM(TRY(s1)), 0) AS s1,
  COALESCE(SUM(TRY(s2)), 0) AS s2
FROM (
  SELECT
    s0 AS s0,
    CAST(CASE WHEN s1 < 0 THEN 0 WHEN s1 > 12 THEN 12 ELSE s1 END AS INT) AS s1,
    CAST(CASE WHEN s2 < 0 THEN 0 WHEN s2 > 1440 THEN 1440 ELSE s2 END AS INT) AS s2
  FROM (
    SELECT
      CAST(CASE WHEN n > 12 THEN 12 ELSE n END AS INT) AS s0,
      CASE
        WHEN n > 12
        THEN COALESCE(
          TRY_CAST(CAST(s1 AS INT128) * 12 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s1 AS INT128) * 12
          ) // n
        )
        ELSE s1
      END AS s1,
      CASE
        WHEN n > 12
        THEN COALESCE(
          TRY_CAST(CAST(s2 AS INT128) * 12 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s2 AS INT128) * 12
          ) // n
        )
        ELSE s2
      END AS s2
    FROM (
      SELECT
        n,
        COALESCE(s1, 0) AS s1,
        COALESCE(s2, 0) AS s2
      FROM (
        SELECT
          u,
          COUNT(*) AS n,
          COUNT(r1) AS s1,
          SUM(TRY(CASE WHEN r2 < 0 THEN 0 WHEN r2 > 120 THEN 120 ELSE r2 END)) AS s2
        FROM (
          SELECT
            u,
            v1 AS r1,
            TRY_CAST(v2 AS BIGINT) AS r2
          FROM (
            SELECT
              c15 AS u,
              c12 AS v1,
              c2 AS v2
            FROM (
              SELECT
                c1,
                c2,
                c9,
                c12,
                COALESCE(c7, c14) AS c15
              FROM (
                SELECT
                  t."patient_id" AS c1,
                  t."age" AS c2,
                  t."patient_id" AS c7
                FROM "patients" AS t
                WHERE
                  NOT t."patient_id" IS NULL
              ) AS t0
              FULL JOIN (
                SELECT
                  t."patient_id" AS c9,
                  t."cost" AS c12,
                  t."patient_id" AS c14
                FROM "visits" AS t
                WHERE
                  NOT t."patient_id" IS NULL
              ) AS t1
                ON (
                  c1 = c9
                ) AND c7 = c14
            ) AS t
          ) AS t
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
