-- ChooseGroupsFirst
WITH placed AS MATERIALIZED (
  SELECT
    u,
    CAST(g0 AS UTINYINT) AS g0,
    CAST(g1 AS UTINYINT) AS g1,
    CAST((
      g0
    ) * 13 + g1 AS UTINYINT) AS x
  FROM (
    SELECT
      c7 AS u,
      d0.cell AS g0,
      d1.cell AS g1
    FROM (
      SELECT
        t."visit_date" AS c4,
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
      n - d < 3
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
                        CASE WHEN d > 4 THEN 4 ELSE d END - 1
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
  COALESCE(SUM(s0), 0) AS s0
FROM (
  SELECT
    *
  FROM (
    SELECT
      g0,
      g1,
      s0
    FROM (
      SELECT
        u,
        g0,
        g1,
        s0 AS s0
      FROM (
        SELECT
          u,
          g0,
          g1,
          CAST(CASE WHEN n > 3 THEN 3 ELSE n END AS INT) AS s0
        FROM (
          SELECT
            u,
            g0,
            g1,
            n
          FROM (
            SELECT
              u,
              g0,
              g1,
              COUNT(*) AS n
            FROM (
              SELECT
                u,
                g0,
                g1
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
    ) AS t
    UNION ALL
    SELECT
      g0,
      g1,
      s0 AS s0
    FROM (
      SELECT
        g0,
        g1,
        COUNT(*) AS s0
      FROM (
        SELECT
          u,
          g0,
          g1
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
