-- PerUnit
SELECT
  g0,
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1
FROM (
  SELECT
    g0,
    s0 AS s0,
    CAST(CASE WHEN s1 < (
      -18
    ) THEN (
      -18
    ) WHEN s1 > 18 THEN 18 ELSE s1 END AS INT) AS s1
  FROM (
    SELECT
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
        g0,
        n,
        COALESCE(s1, 0) - CAST(m1 AS INT128) * 6 AS s1
      FROM (
        SELECT
          u,
          g0,
          COUNT(*) AS n,
          SUM(CASE WHEN r1 < 0 THEN 0 WHEN r1 > 12 THEN 12 ELSE r1 END) AS s1,
          COUNT(r1) AS m1
        FROM (
          SELECT
            u,
            g0,
            TRY_CAST(v1 AS BIGINT) AS r1
          FROM (
            SELECT
              c7 AS u,
              d0.cell AS g0,
              c13 AS v1
            FROM (
              SELECT
                c8 AS c12,
                c9 AS c13,
                c10 AS c14,
                c11 AS c15,
                c7
              FROM (
                SELECT
                  c2,
                  c5,
                  c6,
                  c7,
                  RANK() OVER (PARTITION BY c2, c7 ORDER BY c6 ASC) AS c8,
                  COUNT(*) OVER (PARTITION BY c2, c7) AS c9,
                  SUM(c5) OVER (PARTITION BY c2, c7 ORDER BY c6 ASC) AS c10,
                  SUM(c5) OVER (
                    PARTITION BY c2, c7
                    ORDER BY c6 ASC, c2, c5, c6
                    ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
                  ) AS c11
                FROM (
                  SELECT
                    t."patient_id" AS c2,
                    t."cost" AS c5,
                    t."ward" AS c6,
                    t."patient_id" AS c7
                  FROM "visits" AS t
                  WHERE
                    NOT t."patient_id" IS NULL
                ) AS t
              ) AS t
            ) AS t
            JOIN "domain 0" AS d0
              ON c12 = d0.k0
            WHERE
              (
                (
                  c12 <= 3
                )
                AND (
                  c14 > 500.00
                )
                AND (
                  CASE
                    WHEN (
                      NOT (
                        c15 IS NULL
                      )
                    )
                    THEN c15
                    ELSE CAST('0' AS DECIMAL(38, 2))
                  END >= 0.00
                )
              )
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
