-- CountUnitsFirst
WITH counted AS MATERIALIZED (
  SELECT
    c6 AS u,
    c14 AS k0_0
  FROM (
    SELECT
      c10 AS c14,
      c6
    FROM (
      SELECT
        c5 AS c10,
        c6
      FROM (
        SELECT
          t."street" AS c5,
          t."pupil_id" AS c6
        FROM "pupils" AS t
        WHERE
          NOT t."pupil_id" IS NULL
      ) AS t
    ) AS t
  ) AS t
), many AS MATERIALIZED (
  SELECT
    u AS mu
  FROM counted
  GROUP BY
    u
  HAVING
    COUNT(*) > 1
)
SELECT
  g0,
  COALESCE(SUM(s0), 0) AS s0
FROM (
  SELECT
    *
  FROM (
    SELECT
      g0,
      s0
    FROM (
      SELECT
        *
      FROM (
        SELECT
          *,
          ROW_NUMBER() OVER (PARTITION BY u ORDER BY CAST(g0 AS INT)) AS turn,
          COUNT(*) OVER (PARTITION BY u) AS turns
        FROM (
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
                    WHEN k0_0 = 'North Road'
                    THEN 0
                    WHEN k0_0 = 'South Road'
                    THEN 1
                    WHEN k0_0 IS NULL
                    THEN 2
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
                      *
                    FROM counted
                    WHERE
                      u IN (
                        SELECT
                          mu
                        FROM many
                      )
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
      ) AS t
      WHERE
        (
          turn - 1 + (
            turns - CAST(HASH(u, $1) & 1073741823 AS INT) % turns
          )
        ) % turns < 1
    ) AS t
    UNION ALL
    SELECT
      g0,
      s0 AS s0
    FROM (
      SELECT
        CAST(CASE
          WHEN s0 < 0
          THEN NULL
          WHEN k0_0 = 'North Road'
          THEN 0
          WHEN k0_0 = 'South Road'
          THEN 1
          WHEN k0_0 IS NULL
          THEN 2
        END AS BIGINT) AS g0,
        t.s0
      FROM (
        SELECT
          k0_0,
          COUNT(*) AS s0
        FROM (
          SELECT
            *
          FROM counted
          WHERE
            NOT u IN (
              SELECT
                mu
              FROM many
            )
        ) AS t
        GROUP BY
          k0_0
      ) AS t
    ) AS t
    WHERE
      NOT g0 IS NULL
  ) AS t
) AS t
GROUP BY
  g0
