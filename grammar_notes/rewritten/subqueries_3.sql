-- CountUnitsFirst
WITH counted AS MATERIALIZED (
  SELECT
    c7 AS u,
    c6 AS k0_0
  FROM (
    SELECT
      c1,
      c6,
      c7,
      TRUE AS c16
    FROM (
      SELECT
        t."visit_id" AS c1,
        t."ward" AS c6,
        t."patient_id" AS c7
      FROM "visits" AS t
      WHERE
        NOT t."patient_id" IS NULL
    ) AS t0
    WHERE
      EXISTS(
        SELECT
          1
        FROM (
          SELECT
            c10 AS c15
          FROM (
            SELECT
              t."visit_id" AS c10,
              t."kind" AS c11
            FROM "tests" AS t
          ) AS t
          WHERE
            (
              c11 = 'scan'
            )
        ) AS t1
        WHERE
          (
            c15 = c1
          )
      )
  ) AS t
), many AS MATERIALIZED (
  SELECT
    u AS mu
  FROM counted
  GROUP BY
    u
  HAVING
    COUNT(*) > 2
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
              CAST(CASE WHEN n > 2 THEN 2 ELSE n END AS INT) AS s0
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
        ) % turns < 3
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
          WHEN k0_0 = 'ER'
          THEN 0
          WHEN k0_0 = 'ICU'
          THEN 1
          WHEN k0_0 = 'GP'
          THEN 2
          WHEN k0_0 IS NULL
          THEN 3
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
