-- PerUnit
SELECT
  g0,
  COALESCE(SUM(s0), 0) AS s0
FROM (
  SELECT
    g0,
    CAST(CAST(s0 AS INT128) * f AS INT) AS s0
  FROM (
    WITH kept AS MATERIALIZED (
      SELECT
        u,
        g0,
        s0 AS s0
      FROM (
        SELECT
          u,
          g0,
          CAST(CASE WHEN n > 1 THEN 1 ELSE n END AS INT) AS s0
        FROM (
          SELECT
            u,
            g0,
            n
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
              t.u,
              t.n
            FROM (
              SELECT
                u,
                k0_0,
                COUNT(*) AS n
              FROM (
                SELECT
                  c7 AS u,
                  c6 AS k0_0
                FROM (
                  SELECT
                    t."ward" AS c6,
                    t."patient_id" AS c7
                  FROM "visits" AS t
                  WHERE
                    NOT t."patient_id" IS NULL
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
    )
    SELECT
      g0,
      s0,
      CASE WHEN m IS NULL THEN 1024 WHEN m <= 3 THEN 836 WHEN m <= 4 THEN 724 ELSE 0 END AS f
    FROM kept
    LEFT JOIN (
      SELECT
        u AS mu,
        SUM(CAST(s0 AS INT128) * CAST(s0 AS INT128)) AS m
      FROM kept
      GROUP BY
        u
      HAVING
        SUM(CAST(s0 AS INT128) * CAST(s0 AS INT128)) > 2
    ) AS t
      ON u = mu
  ) AS t
) AS t
GROUP BY
  g0
