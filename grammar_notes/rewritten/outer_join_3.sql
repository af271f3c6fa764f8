-- ChooseGroupsFirst
WITH placed AS MATERIALIZED (
  SELECT
    u,
    r1,
    CAST(g0 AS UTINYINT) AS g0,
    CAST(g0 AS UTINYINT) AS x
  FROM (
    SELECT
      u,
      g0,
      TRY_CAST(v1 AS BIGINT) AS r1
    FROM (
      SELECT
        c13 AS u,
        d0.cell AS g0,
        c11 AS v1
      FROM (
        SELECT
          c1,
          c6,
          c9,
          c11,
          c7 AS c13
        FROM (
          SELECT
            t."visit_id" AS c1,
            t."ward" AS c6,
            t."patient_id" AS c7
          FROM "visits" AS t
          WHERE
            NOT t."patient_id" IS NULL
        ) AS t0
        LEFT JOIN (
          SELECT
            t."visit_id" AS c9,
            t."score" AS c11,
            p0."patient_id" AS c12
          FROM "tests" AS t
          JOIN "visits" AS p0
            ON t."visit_id" = p0."visit_id"
          WHERE
            NOT p0."patient_id" IS NULL
        ) AS t1
          ON (
            c1 = c9
          ) AND c7 = c12
      ) AS t
      LEFT JOIN "domain 0" AS d0
        ON c6 IS NOT DISTINCT FROM d0.k0
    ) AS t
  ) AS t
), units AS MATERIALIZED (
  SELECT
    u AS mu,
    f,
    l,
    (
      n - d < 2
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
            0 AS f,
            a AS fk,
            m AS fm,
            0 AS l,
            (
              a + (
                CASE WHEN d > 3 THEN 3 ELSE d END - 1
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
)
SELECT
  g0,
  COALESCE(SUM(TRY(s0)), 0) AS s0,
  COALESCE(SUM(TRY(s1)), 0) AS s1
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
        CAST(CASE WHEN s1 < (
          -10
        ) THEN (
          -10
        ) WHEN s1 > 10 THEN 10 ELSE s1 END AS INT) AS s1
      FROM (
        SELECT
          u,
          g0,
          CAST(CASE WHEN n > 2 THEN 2 ELSE n END AS INT) AS s0,
          CASE
            WHEN n > 2
            THEN COALESCE(
              TRY_CAST(CAST(s1 AS INT128) * 2 AS BIGINT) // TRY_CAST(n AS BIGINT),
              (
                CAST(s1 AS INT128) * 2
              ) // n
            )
            ELSE s1
          END AS s1
        FROM (
          SELECT
            u,
            g0,
            n,
            COALESCE(s1, 0) AS s1
          FROM (
            SELECT
              u,
              g0,
              COUNT(*) AS n,
              SUM(TRY(CASE WHEN r1 < (
                -5
              ) THEN (
                -5
              ) WHEN r1 > 5 THEN 5 ELSE r1 END)) AS s1
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
      COALESCE(s1, 0) AS s1
    FROM (
      SELECT
        g0,
        COUNT(*) AS s0,
        SUM(TRY(CASE WHEN r1 < (
          -5
        ) THEN (
          -5
        ) WHEN r1 > 5 THEN 5 ELSE r1 END)) AS s1
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
