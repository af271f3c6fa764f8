-- ChooseGroupsFirst
WITH placed AS MATERIALIZED (
  SELECT
    u,
    CAST(g0 AS UTINYINT) AS g0,
    CAST(g0 AS UTINYINT) AS x
  FROM (
    SELECT
      c6 AS u,
      d0.cell AS g0
    FROM (
      SELECT
        c10 AS c14,
        c6
      FROM (
        SELECT
          c5 AS c10,
          c6
        FROM (
          SELECT
            t."street" AS c5,
            t."pupil_id" AS c6
          FROM "pupils" AS t
          WHERE
            NOT t."pupil_id" IS NULL
        ) AS t
      ) AS t
    ) AS t
    LEFT JOIN "domain 0" AS d0
      ON c14 IS NOT DISTINCT FROM d0.k0
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
