-- SumRows
SELECT
  g0,
  COALESCE(s0, 0) AS s0
FROM (
  SELECT
    d0.cell AS g0,
    t.s0
  FROM (
    SELECT
      k0_0,
      SUM(1) AS s0
    FROM (
      SELECT
        k0_0
      FROM (
        SELECT
          c3 AS k0_0
        FROM (
          SELECT
            c3
          FROM (
            SELECT
              c3
            FROM (
              SELECT
                c3,
                hash,
                ROW_NUMBER() OVER (PARTITION BY hash, c3) AS number
              FROM (
                SELECT
                  c3,
                  HASH(c3, $1) AS hash
                FROM (
                  SELECT
                    t."region" AS c3
                  FROM "replies" AS t
                ) AS r
              ) AS r
            ) AS r
            ORDER BY
              HASH(c3, number, $1),
              hash,
              c3,
              number
            LIMIT 3
          ) AS t
        ) AS t
      ) AS t
    ) AS t
    GROUP BY
      k0_0
  ) AS t
  JOIN domain_0 AS d0
    ON t.k0_0 IS NOT DISTINCT FROM d0.k0
) AS t
