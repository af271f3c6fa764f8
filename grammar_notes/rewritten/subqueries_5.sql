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
        t."doctor_id" AS c11,
        t."patient_id" AS c15
      FROM "visits" AS t
      WHERE
        NOT t."patient_id" IS NULL
    ) AS t
    LEFT JOIN "domain 0" AS d0
      ON c11 IS NOT DISTINCT FROM d0.k0
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
        u,
        g0,
        s0 AS s0
      FROM (
        SELECT
          u,
          g0,
          CAST(CASE WHEN n > 3 THEN 3 ELSE n END AS INT) AS s0
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
-- CountUnitsFirst
WITH counted AS MATERIALIZED (
  SELECT
    c7 AS u,
    d0.cell AS g0,
    c5 AS r0
  FROM (
    SELECT
      c3,
      c5,
      c7,
      TRUE AS c19
    FROM (
      SELECT
        t."doctor_id" AS c3,
        t."cost" AS c5,
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
            c17 AS c18
          FROM (
            SELECT
              TRY_CAST(c17 AS BIGINT) AS c17,
              TRY_CAST(c16 AS BIGINT) AS c16
            FROM release_0
          ) AS t
          ORDER BY
            c16 DESC
          LIMIT (
            SELECT
              2
          )
        ) AS t1
        WHERE
          (
            c3 = c18
          )
      )
  ) AS t
  JOIN "domain 0" AS d0
    ON c3 IS NOT DISTINCT FROM d0.k0
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
            CAST(CASE WHEN s0 < 0 THEN 0 WHEN s0 > 300000 THEN 300000 ELSE s0 END AS INT) AS s0
          FROM (
            SELECT
              u,
              g0,
              CASE
                WHEN n > 3
                THEN COALESCE(
                  TRY_CAST(CAST(s0 AS INT128) * 3 AS BIGINT) // TRY_CAST(n AS BIGINT),
                  (
                    CAST(s0 AS INT128) * 3
                  ) // n
                )
                ELSE s0
              END AS s0
            FROM (
              SELECT
                u,
                g0,
                n,
                COALESCE(
                  TRY_CAST(TRY_CAST(s0 AS DECIMAL(15, 2)) * 100. AS INT128),
                  TRY_CAST(TRY_CAST(s0 AS DECIMAL(35, 2)) * 100. AS INT128),
                  0
                ) AS s0
              FROM (
                SELECT
                  u,
                  g0,
                  COUNT(*) AS n,
                  SUM(CASE WHEN r0 < 0.00 THEN 0.00 WHEN r0 > 1000.00 THEN 1000.00 ELSE r0 END) AS s0
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
        ) % turns < 4
    ) AS t
    UNION ALL
    SELECT
      g0,
      COALESCE(TRY_CAST(TRY_CAST(s0 AS DECIMAL(35, 2)) * 100. AS INT128), 0) AS s0
    FROM (
      SELECT
        g0,
        SUM(CASE WHEN r0 < 0.00 THEN 0.00 WHEN r0 > 1000.00 THEN 1000.00 ELSE r0 END) AS s0
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
