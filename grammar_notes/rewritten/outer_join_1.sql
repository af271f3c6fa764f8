-- ChooseGroupsFirst
WITH placed AS MATERIALIZED (
  SELECT
    u,
    CAST(g0 AS UTINYINT) AS g0,
    CAST(g0 AS UTINYINT) AS x
  FROM (
    SELECT
      c15 AS u,
      d0.cell AS g0
    FROM (
      SELECT
        c16 AS c19,
        c15
      FROM (
        SELECT
          c1 AS c17,
          COUNT(c8) AS c16,
          c15
        FROM (
          SELECT
            c1,
            c8,
            c9,
            c13,
            c7 AS c15
          FROM (
            SELECT
              t."patient_id" AS c1,
              t."patient_id" AS c7
            FROM "patients" AS t
            WHERE
              NOT t."patient_id" IS NULL
          ) AS t0
          LEFT JOIN (
            SELECT
              t."visit_id" AS c8,
              t."patient_id" AS c9,
              t."ward" AS c13,
              t."patient_id" AS c14
            FROM "visits" AS t
            WHERE
              NOT t."patient_id" IS NULL
          ) AS t1
            ON (
              c1 = c9
            ) AND (
              c13 <> 'GP'
            ) AND c7 = c14
        ) AS t
        GROUP BY
          c1,
          c15
      ) AS t
    ) AS t
    LEFT JOIN "domain 0" AS d0
      ON c19 = d0.k0
  ) AS t
), units AS MATERIALIZED (
  SELECT
    u AS mu,
    f,
    l,
    (
      n - d < 1
    ) AS light
  FROM (
    SELECT
      u,
      n,
      d,
      f,
      0 AS l
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
        END AS fm
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
          END AS fm
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
            END AS fm
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
              END AS fm
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
                END AS fm
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
                  END AS fm
                FROM (
                  SELECT
                    u,
                    n,
                    d,
                    CASE
                      WHEN fk >= CAST(BIT_COUNT(fm & 18446744073709551615) AS INT)
                      THEN f + 64
                      ELSE f
                    END AS f,
                    CASE
                      WHEN fk >= CAST(BIT_COUNT(fm & 18446744073709551615) AS INT)
                      THEN fk - CAST(BIT_COUNT(fm & 18446744073709551615) AS INT)
                      ELSE fk
                    END AS fk,
                    CASE
                      WHEN fk >= CAST(BIT_COUNT(fm & 18446744073709551615) AS INT)
                      THEN fm >> 64
                      ELSE fm
                    END AS fm
                  FROM (
                    SELECT
                      u,
                      n,
                      d,
                      0 AS f,
                      a AS fk,
                      m AS fm
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
  ) AS t
)
SELECT
  g0,
  COALESCE(SUM(TRY(s0)), 0) AS s0
FROM (
  SELECT
    *
  FROM (
    SELECT
      g0,
      s0
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
                u,
                g0
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
      s0 AS s0
    FROM (
      SELECT
        g0,
        COUNT(*) AS s0
      FROM (
        SELECT
          u,
          g0
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
