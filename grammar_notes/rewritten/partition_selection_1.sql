-- PerUnit
SELECT
  g0,
  g1,
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1
FROM (
  SELECT
    *
  FROM (
    SELECT
      u,
      g0,
      g1,
      CAST(CASE WHEN s0 < 0 THEN 0 WHEN s0 > 300000 THEN 300000 ELSE s0 END AS INT) AS s0,
      1 AS s1
    FROM (
      SELECT
        u,
        g0,
        g1,
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
        1 AS s1
      FROM (
        SELECT
          u,
          g0,
          g1,
          n,
          COALESCE(
            TRY_CAST(TRY_CAST(s0 AS DECIMAL(15, 2)) * 100. AS INT128),
            TRY_CAST(TRY_CAST(s0 AS DECIMAL(35, 2)) * 100. AS INT128),
            0
          ) AS s0
        FROM (
          SELECT
            CAST(CASE
              WHEN n < 0
              THEN NULL
              WHEN k0_0 = 'ER'
              THEN 0
              WHEN k0_0 = 'ICU'
              THEN 1
              WHEN k0_0 = 'GP'
              THEN 2
              WHEN k0_0 IS NULL
              THEN 3
            END AS BIGINT) AS g0,
            t.g1,
            t.u,
            t.n,
            t.s0
          FROM (
            SELECT
              u,
              k0_0,
              g1,
              COUNT(*) AS n,
              SUM(CASE WHEN r0 < 0.00 THEN 0.00 WHEN r0 > 1000.00 THEN 1000.00 ELSE r0 END) AS s0
            FROM (
              SELECT
                c7 AS u,
                c6 AS k0_0,
                c13 AS g1,
                c5 AS r0
              FROM (
                SELECT
                  c2,
                  c5,
                  c6,
                  c8,
                  c13,
                  c7 AS c7
                FROM (
                  SELECT
                    t."patient_id" AS c2,
                    t."cost" AS c5,
                    t."ward" AS c6,
                    t."patient_id" AS c7
                  FROM "visits" AS t
                  WHERE
                    NOT t."patient_id" IS NULL
                ) AS t0
                CROSS JOIN (
                  SELECT
                    t."patient_id" AS c8,
                    t."city" AS c13,
                    t."patient_id" AS c14
                  FROM "patients" AS t
                  WHERE
                    NOT t."patient_id" IS NULL
                ) AS t1
                WHERE
                  (
                    c2 = c8
                  )
              ) AS t
            ) AS t
            GROUP BY
              u,
              k0_0,
              g1
          ) AS t
        ) AS t
        WHERE
          NOT g0 IS NULL
      ) AS t
    ) AS t
  ) AS t
  QUALIFY
    ROW_NUMBER() OVER (PARTITION BY u ORDER BY HASH(u, g0, g1, $1), g0, g1) <= 4
) AS t
GROUP BY
  g0,
  g1
