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
    CAST(CASE
      WHEN s1 < (
        -150000
      )
      THEN (
        -150000
      )
      WHEN s1 > 150000
      THEN 150000
      ELSE s1
    END AS INT) AS s1,
    CAST(CASE WHEN s2 < (
      -7500000000
    ) THEN (
      -7500000000
    ) WHEN s2 > 0 THEN 0 ELSE s2 END AS BIGINT) AS s2
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
        COALESCE(
          TRY_CAST(TRY_CAST(s1 AS DECIMAL(15, 2)) * 100. AS INT128),
          TRY_CAST(TRY_CAST(s1 AS DECIMAL(35, 2)) * 100. AS INT128),
          0
        ) - CAST(m1 AS INT128) * 50000 AS s1,
        COALESCE(s2, 0) AS s2
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
          t.n,
          t.s0,
          t.s1,
          t.m1,
          t.s2
        FROM (
          SELECT
            u,
            k0_0,
            COUNT(*) AS n,
            COUNT(r0) AS s0,
            SUM(CASE WHEN r1 < 0.00 THEN 0.00 WHEN r1 > 1000.00 THEN 1000.00 ELSE r1 END) AS s1,
            COUNT(r1) AS m1,
            SUM(
              (
                (
                  CASE WHEN r2 < 0 THEN 0 WHEN r2 > 100000 THEN 100000 ELSE r2 END
                ) - 50000
              ) * (
                (
                  CASE WHEN r2 < 0 THEN 0 WHEN r2 > 100000 THEN 100000 ELSE r2 END
                ) - 50000
              ) - 2500000000
            ) AS s2
          FROM (
            SELECT
              u,
              k0_0,
              v0 AS r0,
              v1 AS r1,
              TRY_CAST(TRY_CAST(v2 AS DECIMAL(15, 2)) * 100. AS BIGINT) AS r2
            FROM (
              SELECT
                c7 AS u,
                c6 AS k0_0,
                c5 AS v0,
                c5 AS v1,
                c5 AS v2
              FROM (
                SELECT
                  t."cost" AS c5,
                  t."ward" AS c6,
                  t."patient_id" AS c7
                FROM "visits" AS t
                WHERE
                  NOT t."patient_id" IS NULL
              ) AS t
            ) AS t
          ) AS t
          GROUP BY
            u,
            k0_0
        ) AS t
      ) AS t
      WHERE
        NOT g0 IS NULL
    ) AS t
  ) AS t
) AS t
GROUP BY
  g0
