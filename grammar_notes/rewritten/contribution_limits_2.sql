-- CountUnitsFirst
WITH counted AS MATERIALIZED (
  SELECT
    c7 AS u,
    d0.cell AS g0,
    c5 AS r1
  FROM (
    SELECT
      t."visit_date" AS c4,
      t."cost" AS c5,
      t."patient_id" AS c7
    FROM "visits" AS t
    WHERE
      NOT t."patient_id" IS NULL
  ) AS t
  JOIN "domain 0" AS d0
    ON c4 IS NOT DISTINCT FROM d0.k0
  WHERE
    (
      TRY_CAST(c5 AS DECIMAL(12, 2)) <= 500.00
    )
), many AS MATERIALIZED (
  SELECT
    u AS mu
  FROM counted
  GROUP BY
    u
  HAVING
    COUNT(*) > 3
)
SELECT
  g0,
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1
FROM (
  SELECT
    *
  FROM (
    SELECT
      g0,
      s0,
      s1
    FROM (
      SELECT
        *
      FROM (
        SELECT
          u,
          g0,
          s0 AS s0,
          CAST(CASE WHEN s1 < (
            -75000
          ) THEN (
            -75000
          ) WHEN s1 > 75000 THEN 75000 ELSE s1 END AS INT) AS s1
        FROM (
          SELECT
            u,
            g0,
            CAST(CASE WHEN n > 3 THEN 3 ELSE n END AS INT) AS s0,
            CASE
              WHEN n > 3
              THEN COALESCE(
                TRY_CAST(CAST(s1 AS INT128) * 3 AS BIGINT) // TRY_CAST(n AS BIGINT),
                (
                  CAST(s1 AS INT128) * 3
                ) // n
              )
              ELSE s1
            END AS s1
          FROM (
            SELECT
              u,
              g0,
              n,
              COALESCE(
                TRY_CAST(TRY_CAST(s1 AS DECIMAL(15, 2)) * 100. AS INT128),
                TRY_CAST(TRY_CAST(s1 AS DECIMAL(35, 2)) * 100. AS INT128),
                0
              ) - CAST(m1 AS INT128) * 25000 AS s1
            FROM (
              SELECT
                u,
                g0,
                COUNT(*) AS n,
                SUM(CASE WHEN r1 < 0.00 THEN 0.00 WHEN r1 > 500.00 THEN 500.00 ELSE r1 END) AS s1,
                COUNT(r1) AS m1
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
      QUALIFY
        ROW_NUMBER() OVER (PARTITION BY u ORDER BY HASH(u, g0, $1), g0) <= 4
    ) AS t
    UNION ALL
    SELECT
      g0,
      s0 AS s0,
      COALESCE(TRY_CAST(TRY_CAST(s1 AS DECIMAL(35, 2)) * 100. AS INT128), 0) - CAST(m1 AS INT128) * 25000 AS s1
    FROM (
      SELECT
        g0,
        COUNT(*) AS s0,
        SUM(CASE WHEN r1 < 0.00 THEN 0.00 WHEN r1 > 500.00 THEN 500.00 ELSE r1 END) AS s1,
        COUNT(r1) AS m1
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
