-- PerUnit
SELECT
  g0,
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1
FROM (
  WITH kept AS MATERIALIZED (
    SELECT
      *
    FROM (
      SELECT
        u,
        g0,
        CAST(CASE WHEN s0 < 0 THEN 0 WHEN s0 > 300000 THEN 300000 ELSE s0 END AS INT) AS s0,
        0 AS s1
      FROM (
        SELECT
          u,
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
          1 AS s1
        FROM (
          SELECT
            u,
            g0,
            n,
            COALESCE(
              TRY_CAST(TRY_CAST(s0 AS DECIMAL(15, 2)) * 100. AS INT128),
              TRY_CAST(TRY_CAST(s0 AS DECIMAL(35, 2)) * 100. AS INT128),
              0
            ) AS s0
          FROM (
            SELECT
              u,
              g0,
              COUNT(*) AS n,
              SUM(CASE WHEN r0 < 0.00 THEN 0.00 WHEN r0 > 1000.00 THEN 1000.00 ELSE r0 END) AS s0
            FROM (
              SELECT
                c7 AS u,
                TRY(c1 + 0) AS g0,
                c5 AS r0
              FROM (
                SELECT
                  t."visit_id" AS c1,
                  t."cost" AS c5,
                  t."patient_id" AS c7
                FROM "visits" AS t
                WHERE
                  NOT t."patient_id" IS NULL
              ) AS t
            ) AS t
            GROUP BY
              u,
              g0
          ) AS t
        ) AS t
      ) AS t
    ) AS t
    QUALIFY
      ROW_NUMBER() OVER (PARTITION BY u ORDER BY HASH(u, g0, $1), g0) <= 4
  )
  SELECT
    u,
    g0,
    s0,
    CASE
      WHEN m <= 1
      THEN 2048
      WHEN m <= 2
      THEN 1448
      WHEN m <= 3
      THEN 1182
      WHEN m <= 4
      THEN 1024
      ELSE 0
    END AS s1
  FROM kept
  LEFT JOIN (
    SELECT
      u AS mu,
      COUNT(*) AS m
    FROM kept
    GROUP BY
      u
    HAVING
      COUNT(*) > 0
  ) AS t
    ON u = mu
) AS t
GROUP BY
  g0
