-- PerUnit
SELECT
  g0,
  COALESCE(SUM(s0), 0) AS s0
FROM (
  SELECT
    g0,
    CAST(CASE WHEN s0 < (
      -10
    ) THEN (
      -10
    ) WHEN s0 > 10 THEN 10 ELSE s0 END AS INT) AS s0
  FROM (
    SELECT
      g0,
      CASE
        WHEN n > 2
        THEN COALESCE(
          TRY_CAST(CAST(s0 AS INT128) * 2 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s0 AS INT128) * 2
          ) // n
        )
        ELSE s0
      END AS s0
    FROM (
      SELECT
        g0,
        n,
        COALESCE(s0, 0) AS s0
      FROM (
        SELECT
          CAST(CASE
            WHEN n < 0
            THEN NULL
            WHEN k0_0 = 'blood'
            THEN 0
            WHEN k0_0 = 'scan'
            THEN 1
            WHEN k0_0 IS NULL
            THEN 2
          END AS BIGINT) AS g0,
          t.n,
          t.s0
        FROM (
          SELECT
            u,
            k0_0,
            COUNT(*) AS n,
            SUM(CASE WHEN r0 < (
              -5
            ) THEN (
              -5
            ) WHEN r0 > 5 THEN 5 ELSE r0 END) AS s0
          FROM (
            SELECT
              u,
              k0_0,
              TRY_CAST(v0 AS BIGINT) AS r0
            FROM (
              SELECT
                c5 AS u,
                c3 AS k0_0,
                c4 AS v0
              FROM (
                SELECT
                  t."kind" AS c3,
                  t."score" AS c4,
                  p0."patient_id" AS c5
                FROM "tests" AS t
                JOIN "visits" AS p0
                  ON t."visit_id" = p0."visit_id"
                WHERE
                  NOT p0."patient_id" IS NULL
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
