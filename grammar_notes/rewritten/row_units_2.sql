-- PerUnit
SELECT
  g0,
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1
FROM (
  SELECT
    g0,
    s0 AS s0,
    CAST(CASE
      WHEN s1 < (
        -8589934592
      )
      THEN (
        -8589934592
      )
      WHEN s1 > 8589934592
      THEN 8589934592
      ELSE s1
    END AS BIGINT) AS s1
  FROM (
    SELECT
      g0,
      CAST(CASE WHEN n > 8 THEN 8 ELSE n END AS INT) AS s0,
      CASE
        WHEN n > 8
        THEN COALESCE(
          TRY_CAST(CAST(s1 AS INT128) * 8 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s1 AS INT128) * 8
          ) // n
        )
        ELSE s1
      END AS s1
    FROM (
      SELECT
        g0,
        n,
        COALESCE(s1, 0) AS s1
      FROM (
        SELECT
          u,
          g0,
          COUNT(*) AS n,
          SUM(
            CASE
              WHEN r1 < (
                -1073741824
              )
              THEN (
                -1073741824
              )
              WHEN r1 > 1073741824
              THEN 1073741824
              ELSE r1
            END
          ) AS s1
        FROM (
          SELECT
            u,
            g0,
            TRY_CAST(CASE
              WHEN ISNAN(v1)
              THEN NULL
              WHEN v1 < CAST('-1.0' AS DOUBLE)
              THEN CAST('-1.0' AS DOUBLE)
              WHEN v1 > CAST('1.0' AS DOUBLE)
              THEN CAST('1.0' AS DOUBLE)
              ELSE v1
            END * CAST('1073741824.0' AS DOUBLE) AS BIGINT) AS r1
          FROM (
            SELECT
              c3 AS u,
              d0.cell AS g0,
              c2 AS v1
            FROM (
              SELECT
                c1,
                c2,
                c5,
                c6,
                c3 AS c3
              FROM (
                SELECT
                  t."sensor" AS c1,
                  t."value" AS c2,
                  ROW_NUMBER() OVER () AS c3
                FROM "readings" AS t
              ) AS t0
              CROSS JOIN (
                SELECT
                  t."specialty" AS c5,
                  t."region_id" AS c6
                FROM "doctors" AS t
              ) AS t1
              WHERE
                (
                  TRY_CAST(c1 AS BIGINT) = c6
                )
            ) AS t
            JOIN "domain 0" AS d0
              ON c5 = d0.k0
          ) AS t
        ) AS t
        GROUP BY
          u,
          g0
      ) AS t
    ) AS t
  ) AS t
) AS t
GROUP BY
  g0
