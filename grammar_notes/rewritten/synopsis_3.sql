-- ChooseGroupsFirst
WITH placed AS MATERIALIZED (
  SELECT
    u,
    r0,
    r2,
    CAST(g0 AS UTINYINT) AS g0,
    CAST(g1 AS UTINYINT) AS g1,
    CAST((
      (
        1 + h % 126
      ) * x + h // 126
    ) % 127 AS UTINYINT) AS p
  FROM (
    SELECT
      u,
      r0,
      r2,
      g0,
      g1,
      CAST(HASH(u, $1) & 1073741823 AS INT) % 16002 AS h,
      CAST((
        g0
      ) * 13 + g1 AS INT) AS x
    FROM (
      SELECT
        u,
        g0,
        g1,
        v0 AS r0,
        v2 AS r2
      FROM (
        SELECT
          c7 AS u,
          d0.cell AS g0,
          d1.cell AS g1,
          CASE WHEN NOT c5 IS NULL THEN 1 END AS v0,
          c5 AS v2
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
        LEFT JOIN domain_0 AS d0
          ON c6 IS NOT DISTINCT FROM d0.k0
        LEFT JOIN domain_1 AS d1
          ON TRY(MONTH(TRY(c4))) IS NOT DISTINCT FROM d1.k0
      ) AS t
    ) AS t
  ) AS t
), units AS MATERIALIZED (
  SELECT
    u AS mu,
    m,
    (
      n - CAST(BIT_COUNT(m) AS BIGINT) < 3
      AND (
        n <= 5 OR n - CAST(BIT_COUNT(m) AS BIGINT) + 5 <= 5
      )
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
      SELECT
        g0,
        g1,
        COALESCE(
          COALESCE(
            TRY(TRY_CAST(CAST(s0 AS INT128) AS BIGINT) * k) // TRY_CAST(s1 AS BIGINT),
            (
              CAST(CAST(s0 AS INT128) AS INT128) * k
            ) // s1
          ),
          s0
        ) AS s0,
        COALESCE(k, s1) AS s1,
        COALESCE(
          COALESCE(
            TRY(TRY_CAST(CAST(s2 AS INT128) AS BIGINT) * k) // TRY_CAST(s1 AS BIGINT),
            (
              CAST(CAST(s2 AS INT128) AS INT128) * k
            ) // s1
          ),
          s2
        ) AS s2
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
                    TRY(TRY_CAST(s0 AS BIGINT) * 3) // TRY_CAST(n AS BIGINT),
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
                    TRY(TRY_CAST(s2 AS BIGINT) * 3) // TRY_CAST(n AS BIGINT),
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
                    TRY_CAST(TRY(s2 * 100.) AS INT128),
                    0
                  ) - CAST(m2 AS INT128) * 50000 AS s2
                FROM (
                  SELECT
                    u,
                    g0,
                    g1,
                    COUNT(*) AS n,
                    SUM(r0) AS s0,
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
                      BIT_COUNT(m) - BIT_COUNT(m >> p) < 5 AND NOT light
                  ) AS t
                  GROUP BY
                    u,
                    g0,
                    g1
                ) AS t
              ) AS t
            ) AS t
          ), more AS MATERIALIZED (
            SELECT
              u AS mu,
              SUM(s1) AS m
            FROM kept
            GROUP BY
              u
            HAVING
              SUM(s1) > 5
          )
          SELECT
            *
          FROM (
            SELECT
              *,
              m AS mc
            FROM kept
            LEFT JOIN more
              ON u = mu
            WHERE
              mu IS NULL
            UNION ALL
            SELECT
              *,
              SUM(s1) OVER (PARTITION BY u ORDER BY HASH(u, g0, g1, $1), g0, g1) AS mc
            FROM kept
            JOIN more
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
      COALESCE(TRY_CAST(TRY(s2 * 100.) AS INT128), 0) - CAST(m2 AS INT128) * 50000 AS s2
    FROM (
      SELECT
        g0,
        g1,
        SUM(r0) AS s0,
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
          BIT_COUNT(m) - BIT_COUNT(m >> p) < 5 AND light
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
