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
            c8 AS c11,
            c7
          FROM (
            SELECT
              c2 AS c9,
              COUNT(*) AS c8,
              c7
            FROM (
              SELECT
                t."patient_id" AS c2,
                t."patient_id" AS c7
              FROM "visits" AS t
              WHERE
                NOT t."patient_id" IS NULL
            ) AS t
            GROUP BY
              c2,
              c7
          ) AS t
        ) AS t
        LEFT JOIN domain_0 AS d0
          ON c11 = d0.k0
      ) AS t
    ) AS t
  ) AS t
), units AS MATERIALIZED (
  SELECT
    u AS mu,
    m,
    (
      n - CAST(BIT_COUNT(m) AS BIGINT) < 1
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
                BIT_COUNT(m) - BIT_COUNT(m >> p) < 1 AND NOT light
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
          BIT_COUNT(m) - BIT_COUNT(m >> p) < 1 AND light
      ) AS t
      GROUP BY
        g0
    ) AS t
  ) AS t
) AS t
GROUP BY
  g0
