-- ChooseGroupsFirst
WITH placed AS MATERIALIZED (
  SELECT
    u,
    CAST(g0 AS UTINYINT) AS g0,
    CAST((
      (
        1 + h % 126
      ) * x + h // 126
    ) % 127 AS UTINYINT) AS p
  FROM (
    SELECT
      u,
      g0,
      CAST(HASH(u, $1) & 1073741823 AS INT) % 16002 AS h,
      CAST(g0 AS INT) AS x
    FROM (
      SELECT
        u,
        g0
      FROM (
        SELECT
          c7 AS u,
          d0.cell AS g0
        FROM (
          SELECT
            c1,
            c6,
            c7,
            TRUE AS c16
          FROM (
            SELECT
              t."visit_id" AS c1,
              t."ward" AS c6,
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
                  c10 AS c15
                FROM (
                  SELECT
                    c10,
                    c11
                  FROM (
                    SELECT
                      t."visit_id" AS c10,
                      t."kind" AS c11
                    FROM "tests" AS t
                  ) AS t
                  WHERE
                    (
                      c11 = 'scan'
                    )
                ) AS t
              ) AS t1
              WHERE
                (
                  c15 = c1
                )
            )
        ) AS t
        LEFT JOIN domain_0 AS d0
          ON c6 IS NOT DISTINCT FROM d0.k0
      ) AS t
    ) AS t
  ) AS t
), units AS MATERIALIZED (
  SELECT
    u AS mu,
    m,
    (
      n - CAST(BIT_COUNT(m) AS BIGINT) < 2
    ) AS light
  FROM (
    SELECT
      u,
      COUNT(p) AS n,
      BIT_OR(CAST('1' AS INT128) << p) AS m
    FROM (
      SELECT
        *
      FROM placed
    ) AS t
    GROUP BY
      u
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
          CAST(CASE WHEN n > 2 THEN 2 ELSE n END AS INT) AS s0
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
                BIT_COUNT(m) - BIT_COUNT(m >> p) < 3 AND NOT light
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
          BIT_COUNT(m) - BIT_COUNT(m >> p) < 3 AND light
      ) AS t
      GROUP BY
        g0
    ) AS t
  ) AS t
) AS t
GROUP BY
  g0
