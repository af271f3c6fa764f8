-- ChooseGroupsFirst
WITH placed AS MATERIALIZED (
  SELECT
    u,
    r0,
    r2,
    CAST(g0 AS UTINYINT) AS g0,
    CAST(g1 AS UTINYINT) AS g1,
    CAST((
      g0
    ) * 13 + g1 AS UTINYINT) AS x
  FROM (
    SELECT
      c7 AS u,
      d0.cell AS g0,
      d1.cell AS g1,
      c5 AS r0,
      c5 AS r2
    FROM (
      SELECT
        t."visit_date" AS c4,
        t."cost" AS c5,
        t."ward" AS c6,
        t."patient_id" AS c7
      FROM "visits" AS t
      WHERE
        NOT t."patient_id" IS NULL
    ) AS t
    LEFT JOIN "domain 0" AS d0
      ON c6 IS NOT DISTINCT FROM d0.k0
    LEFT JOIN "domain 1" AS d1
      ON MONTH(c4) IS NOT DISTINCT FROM d1.k0
  ) AS t
), units AS MATERIALIZED (
  SELECT
    u AS mu,
    f,
    l,
    (
      n - d < 3 AND (
        n <= 5 OR n - d + 5 <= 5
      )
    ) AS light
  FROM (
    SELECT
      u,
      n,
      d,
      f,
      l - f AS l
    FROM (
      SELECT
        u,
        n,
        d,
        CASE
          WHEN fk >= CAST(BIT_COUNT(fm & CAST('1' AS INT128)) AS INT)
          THEN f + 1
          ELSE f
        END AS f,
        CASE
          WHEN fk >= CAST(BIT_COUNT(fm & CAST('1' AS INT128)) AS INT)
          THEN fk - CAST(BIT_COUNT(fm & CAST('1' AS INT128)) AS INT)
          ELSE fk
        END AS fk,
        CASE
          WHEN fk >= CAST(BIT_COUNT(fm & CAST('1' AS INT128)) AS INT)
          THEN fm >> 1
          ELSE fm
        END AS fm,
        CASE
          WHEN lk >= CAST(BIT_COUNT(lm & CAST('1' AS INT128)) AS INT)
          THEN l + 1
          ELSE l
        END AS l,
        CASE
          WHEN lk >= CAST(BIT_COUNT(lm & CAST('1' AS INT128)) AS INT)
          THEN lk - CAST(BIT_COUNT(lm & CAST('1' AS INT128)) AS INT)
          ELSE lk
        END AS lk,
        CASE
          WHEN lk >= CAST(BIT_COUNT(lm & CAST('1' AS INT128)) AS INT)
          THEN lm >> 1
          ELSE lm
        END AS lm
      FROM (
        SELECT
          u,
          n,
          d,
          CASE
            WHEN fk >= CAST(BIT_COUNT(fm & CAST('3' AS INT128)) AS INT)
            THEN f + 2
            ELSE f
          END AS f,
          CASE
            WHEN fk >= CAST(BIT_COUNT(fm & CAST('3' AS INT128)) AS INT)
            THEN fk - CAST(BIT_COUNT(fm & CAST('3' AS INT128)) AS INT)
            ELSE fk
          END AS fk,
          CASE
            WHEN fk >= CAST(BIT_COUNT(fm & CAST('3' AS INT128)) AS INT)
            THEN fm >> 2
            ELSE fm
          END AS fm,
          CASE
            WHEN lk >= CAST(BIT_COUNT(lm & CAST('3' AS INT128)) AS INT)
            THEN l + 2
            ELSE l
          END AS l,
          CASE
            WHEN lk >= CAST(BIT_COUNT(lm & CAST('3' AS INT128)) AS INT)
            THEN lk - CAST(BIT_COUNT(lm & CAST('3' AS INT128)) AS INT)
            ELSE lk
          END AS lk,
          CASE
            WHEN lk >= CAST(BIT_COUNT(lm & CAST('3' AS INT128)) AS INT)
            THEN lm >> 2
            ELSE lm
          END AS lm
        FROM (
          SELECT
            u,
            n,
            d,
            CASE
              WHEN fk >= CAST(BIT_COUNT(fm & CAST('15' AS INT128)) AS INT)
              THEN f + 4
              ELSE f
            END AS f,
            CASE
              WHEN fk >= CAST(BIT_COUNT(fm & CAST('15' AS INT128)) AS INT)
              THEN fk - CAST(BIT_COUNT(fm & CAST('15' AS INT128)) AS INT)
              ELSE fk
            END AS fk,
            CASE
              WHEN fk >= CAST(BIT_COUNT(fm & CAST('15' AS INT128)) AS INT)
              THEN fm >> 4
              ELSE fm
            END AS fm,
            CASE
              WHEN lk >= CAST(BIT_COUNT(lm & CAST('15' AS INT128)) AS INT)
              THEN l + 4
              ELSE l
            END AS l,
            CASE
              WHEN lk >= CAST(BIT_COUNT(lm & CAST('15' AS INT128)) AS INT)
              THEN lk - CAST(BIT_COUNT(lm & CAST('15' AS INT128)) AS INT)
              ELSE lk
            END AS lk,
            CASE
              WHEN lk >= CAST(BIT_COUNT(lm & CAST('15' AS INT128)) AS INT)
              THEN lm >> 4
              ELSE lm
            END AS lm
          FROM (
            SELECT
              u,
              n,
              d,
              CASE
                WHEN fk >= CAST(BIT_COUNT(fm & CAST('255' AS INT128)) AS INT)
                THEN f + 8
                ELSE f
              END AS f,
              CASE
                WHEN fk >= CAST(BIT_COUNT(fm & CAST('255' AS INT128)) AS INT)
                THEN fk - CAST(BIT_COUNT(fm & CAST('255' AS INT128)) AS INT)
                ELSE fk
              END AS fk,
              CASE
                WHEN fk >= CAST(BIT_COUNT(fm & CAST('255' AS INT128)) AS INT)
                THEN fm >> 8
                ELSE fm
              END AS fm,
              CASE
                WHEN lk >= CAST(BIT_COUNT(lm & CAST('255' AS INT128)) AS INT)
                THEN l + 8
                ELSE l
              END AS l,
              CASE
                WHEN lk >= CAST(BIT_COUNT(lm & CAST('255' AS INT128)) AS INT)
                THEN lk - CAST(BIT_COUNT(lm & CAST('255' AS INT128)) AS INT)
                ELSE lk
              END AS lk,
              CASE
                WHEN lk >= CAST(BIT_COUNT(lm & CAST('255' AS INT128)) AS INT)
                THEN lm >> 8
                ELSE lm
              END AS lm
            FROM (
              SELECT
                u,
                n,
                d,
                CASE
                  WHEN fk >= CAST(BIT_COUNT(fm & CAST('65535' AS INT128)) AS INT)
                  THEN f + 16
                  ELSE f
                END AS f,
                CASE
                  WHEN fk >= CAST(BIT_COUNT(fm & CAST('65535' AS INT128)) AS INT)
                  THEN fk - CAST(BIT_COUNT(fm & CAST('65535' AS INT128)) AS INT)
                  ELSE fk
                END AS fk,
                CASE
                  WHEN fk >= CAST(BIT_COUNT(fm & CAST('65535' AS INT128)) AS INT)
                  THEN fm >> 16
                  ELSE fm
                END AS fm,
                CASE
                  WHEN lk >= CAST(BIT_COUNT(lm & CAST('65535' AS INT128)) AS INT)
                  THEN l + 16
                  ELSE l
                END AS l,
                CASE
                  WHEN lk >= CAST(BIT_COUNT(lm & CAST('65535' AS INT128)) AS INT)
                  THEN lk - CAST(BIT_COUNT(lm & CAST('65535' AS INT128)) AS INT)
                  ELSE lk
                END AS lk,
                CASE
                  WHEN lk >= CAST(BIT_COUNT(lm & CAST('65535' AS INT128)) AS INT)
                  THEN lm >> 16
                  ELSE lm
                END AS lm
              FROM (
                SELECT
                  u,
                  n,
                  d,
                  CASE
                    WHEN fk >= CAST(BIT_COUNT(fm & CAST('4294967295' AS INT128)) AS INT)
                    THEN f + 32
                    ELSE f
                  END AS f,
                  CASE
                    WHEN fk >= CAST(BIT_COUNT(fm & CAST('4294967295' AS INT128)) AS INT)
                    THEN fk - CAST(BIT_COUNT(fm & CAST('4294967295' AS INT128)) AS INT)
                    ELSE fk
                  END AS fk,
                  CASE
                    WHEN fk >= CAST(BIT_COUNT(fm & CAST('4294967295' AS INT128)) AS INT)
                    THEN fm >> 32
                    ELSE fm
                  END AS fm,
                  CASE
                    WHEN lk >= CAST(BIT_COUNT(lm & CAST('4294967295' AS INT128)) AS INT)
                    THEN l + 32
                    ELSE l
                  END AS l,
                  CASE
                    WHEN lk >= CAST(BIT_COUNT(lm & CAST('4294967295' AS INT128)) AS INT)
                    THEN lk - CAST(BIT_COUNT(lm & CAST('4294967295' AS INT128)) AS INT)
                    ELSE lk
                  END AS lk,
                  CASE
                    WHEN lk >= CAST(BIT_COUNT(lm & CAST('4294967295' AS INT128)) AS INT)
                    THEN lm >> 32
                    ELSE lm
                  END AS lm
                FROM (
                  SELECT
                    u,
                    n,
                    d,
                    0 AS f,
                    a AS fk,
                    m AS fm,
                    0 AS l,
                    (
                      a + (
                        CASE WHEN d > 5 THEN 5 ELSE d END - 1
                      )
                    ) % d AS lk,
                    m AS lm
                  FROM (
                    SELECT
                      u,
                      n,
                      m,
                      d,
                      CAST(HASH(u, $1) & 1073741823 AS INT) % d AS a
                    FROM (
                      SELECT
                        u,
                        n,
                        m,
                        CAST(BIT_COUNT(m) AS INT) AS d
                      FROM (
                        SELECT
                          u,
                          COUNT(*) AS n,
                          BIT_OR(CAST('1' AS INT128) << x) AS m
                        FROM (
                          SELECT
                            *
                          FROM placed
                          WHERE
                            NOT x IS NULL
                        ) AS t
                        GROUP BY
                          u
                      ) AS t
                    ) AS t
                  ) AS t
                ) AS t
              ) AS t
            ) AS t
          ) AS t
        ) AS t
      ) AS t
    ) AS t
  ) AS t
)
SELECT
  g0,
  g1,
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1,
  COALESCE(SUM(s2), 0) AS s2
FROM (
  SELECT
    *
  FROM (
    SELECT
      g0,
      g1,
      s0,
      s1,
      s2
    FROM (
      WITH kept AS MATERIALIZED (
        SELECT
          u,
          g0,
          g1,
          CAST(CASE WHEN s0 < 0 THEN 0 WHEN s0 > 3 THEN 3 ELSE s0 END AS INT) AS s0,
          s1 AS s1,
          CAST(CASE
            WHEN s2 < (
              -150000
            )
            THEN (
              -150000
            )
            WHEN s2 > 150000
            THEN 150000
            ELSE s2
          END AS INT) AS s2
        FROM (
          SELECT
            u,
            g0,
            g1,
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
            CAST(CASE WHEN n > 3 THEN 3 ELSE n END AS INT) AS s1,
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
              u,
              g0,
              g1,
              n,
              COALESCE(s0, 0) AS s0,
              COALESCE(
                TRY_CAST(TRY_CAST(s2 AS DECIMAL(15, 2)) * 100. AS INT128),
                TRY_CAST(TRY_CAST(s2 AS DECIMAL(35, 2)) * 100. AS INT128),
                0
              ) - CAST(m2 AS INT128) * 50000 AS s2
            FROM (
              SELECT
                u,
                g0,
                g1,
                COUNT(*) AS n,
                COUNT(r0) AS s0,
                SUM(CASE WHEN r2 < 0.00 THEN 0.00 WHEN r2 > 1000.00 THEN 1000.00 ELSE r2 END) AS s2,
                COUNT(r2) AS m2
              FROM (
                SELECT
                  u,
                  g0,
                  g1,
                  r0,
                  r2
                FROM placed
                JOIN units
                  ON u = mu
                WHERE
                  (
                    (
                      CAST(x AS INT) - f
                    ) & 127
                  ) <= (
                    (
                      l
                    ) & 127
                  ) AND NOT light
              ) AS t
              GROUP BY
                u,
                g0,
                g1
            ) AS t
          ) AS t
        ) AS t
      )
      SELECT
        *
      FROM (
        SELECT
          g0,
          g1,
          s0,
          s1,
          s2
        FROM kept
        UNION ALL
        SELECT
          g0,
          g1,
          CAST(s0 AS BIGINT) * k // s1 - s0 AS s0,
          k - s1 AS s1,
          CAST(s2 AS BIGINT) * k // s1 - s2 AS s2
        FROM (
          SELECT
            *,
            CAST((
              (
                CAST(mc AS INT128) * 10 + m
              ) // (
                2 * m
              ) - (
                CAST((
                  mc - s1
                ) AS INT128) * 10 + m
              ) // (
                2 * m
              )
            ) AS INT) AS k
          FROM (
            SELECT
              *,
              SUM(s1) OVER (PARTITION BY u ORDER BY HASH(u, g0, g1, $1), g0, g1) AS mc
            FROM kept
            JOIN (
              SELECT
                u AS mu,
                SUM(s1) AS m
              FROM kept
              GROUP BY
                u
              HAVING
                SUM(s1) > 5
            ) AS t
              ON u = mu
          ) AS t
        ) AS t
      ) AS t
    ) AS t
    UNION ALL
    SELECT
      g0,
      g1,
      COALESCE(s0, 0) AS s0,
      s1 AS s1,
      COALESCE(TRY_CAST(TRY_CAST(s2 AS DECIMAL(35, 2)) * 100. AS INT128), 0) - CAST(m2 AS INT128) * 50000 AS s2
    FROM (
      SELECT
        g0,
        g1,
        COUNT(r0) AS s0,
        COUNT(*) AS s1,
        SUM(CASE WHEN r2 < 0.00 THEN 0.00 WHEN r2 > 1000.00 THEN 1000.00 ELSE r2 END) AS s2,
        COUNT(r2) AS m2
      FROM (
        SELECT
          u,
          g0,
          g1,
          r0,
          r2
        FROM placed
        JOIN units
          ON u = mu
        WHERE
          (
            (
              CAST(x AS INT) - f
            ) & 127
          ) <= (
            (
              l
            ) & 127
          ) AND light
      ) AS t
      GROUP BY
        g0,
        g1
    ) AS t
  ) AS t
) AS t
GROUP BY
  g0,
  g1
