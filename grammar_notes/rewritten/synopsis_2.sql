-- ChooseGroupsFirst
WITH placed AS MATERIALIZED (
  SELECT
    u,
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
      g0,
      g1,
      CAST(HASH(u, $1) & 1073741823 AS INT) % 16002 AS h,
      CAST((
        g0
      ) * 4 + g1 AS INT) AS x
    FROM (
      SELECT
        u,
        g0,
        g1
      FROM (
        SELECT
          c7 AS u,
          d0.cell AS g0,
          d1.cell AS g1
        FROM (
          SELECT
            c3,
            c6,
            c8,
            c9,
            c7 AS c7
          FROM (
            SELECT
              t."doctor_id" AS c3,
              t."ward" AS c6,
              t."patient_id" AS c7
            FROM "visits" AS t
            WHERE
              NOT t."patient_id" IS NULL
          ) AS t0
          CROSS JOIN (
            SELECT
              t."doctor_id" AS c8,
              t."specialty" AS c9
            FROM "doctors" AS t
          ) AS t1
          WHERE
            (
              c3 = c8
            )
        ) AS t
        LEFT JOIN domain_0 AS d0
          ON c9 = d0.k0
        LEFT JOIN domain_1 AS d1
          ON c6 IS NOT DISTINCT FROM d1.k0
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
        n <= 4 OR n - CAST(BIT_COUNT(m) AS BIGINT) + 4 <= 4
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
      WITH kept AS MATERIALIZED (
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
                  BIT_COUNT(m) - BIT_COUNT(m >> p) < 4 AND NOT light
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
        g0,
        g1,
        COALESCE(
          COALESCE(
            TRY(TRY_CAST(CAST(s0 AS INT128) AS BIGINT) * 4) // TRY_CAST(m AS BIGINT),
            (
              CAST(CAST(s0 AS INT128) AS INT128) * 4
            ) // m
          ),
          s0
        ) AS s0
      FROM kept
      LEFT JOIN (
        SELECT
          u AS mu,
          SUM(s0) AS m
        FROM kept
        GROUP BY
          u
        HAVING
          SUM(s0) > 4
      ) AS t
        ON u = mu
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
          BIT_COUNT(m) - BIT_COUNT(m >> p) < 4 AND light
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
