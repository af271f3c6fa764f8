-- ChooseGroupsFirst
WITH placed AS MATERIALIZED (
  SELECT
    u,
    r1,
    CAST(g0 AS UTINYINT) AS g0,
    CAST(g0 AS UTINYINT) AS x
  FROM (
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
    LEFT JOIN "domain 0" AS d0
      ON MONTH(c4) IS NOT DISTINCT FROM d0.k0
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
        u,
        g0,
        s0 AS s0,
        CAST(CASE WHEN s1 < 0 THEN 0 WHEN s1 > 300000 THEN 300000 ELSE s1 END AS INT) AS s1
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
            ) AS s1
          FROM (
            SELECT
              u,
              g0,
              COUNT(*) AS n,
              SUM(CASE WHEN r1 < 0.00 THEN 0.00 WHEN r1 > 1000.00 THEN 1000.00 ELSE r1 END) AS s1
            FROM (
              SELECT
                u,
                g0,
                r1
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
              g0
          ) AS t
        ) AS t
      ) AS t
    ) AS t
    UNION ALL
    SELECT
      g0,
      s0 AS s0,
      COALESCE(TRY_CAST(TRY_CAST(s1 AS DECIMAL(35, 2)) * 100. AS INT128), 0) AS s1
    FROM (
      SELECT
        g0,
        COUNT(*) AS s0,
        SUM(CASE WHEN r1 < 0.00 THEN 0.00 WHEN r1 > 1000.00 THEN 1000.00 ELSE r1 END) AS s1
      FROM (
        SELECT
          u,
          g0,
          r1
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
        g0
    ) AS t
  ) AS t
) AS t
GROUP BY
  g0
