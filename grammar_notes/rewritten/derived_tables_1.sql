-- CountUnitsFirst
WITH counted AS MATERIALIZED (
  SELECT
    c7 AS u,
    d0.cell AS g0
  FROM (
    SELECT
      c8 AS c11,
      c7
    FROM (
      SELECT
        c2 AS c9,
        COUNT(*) AS c8,
        c7
      FROM (
        SELECT
          t."patient_id" AS c2,
          t."patient_id" AS c7
        FROM "visits" AS t
        WHERE
          NOT t."patient_id" IS NULL
      ) AS t
      GROUP BY
        c2,
        c7
    ) AS t
  ) AS t
  JOIN "domain 0" AS d0
    ON c11 = d0.k0
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
                  u,
                  g0,
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
                  g0
              ) AS t
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
        g0,
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
        g0
    ) AS t
  ) AS t
) AS t
GROUP BY
  g0
