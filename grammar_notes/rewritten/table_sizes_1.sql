-- SumRows
SELECT
  g0,
  s0 AS s0
FROM (
  SELECT
    CAST(CASE
      WHEN s0 < 0
      THEN NULL
      WHEN k0_0 = 'n'
      THEN 0
      WHEN k0_0 = 's'
      THEN 1
      WHEN k0_0 IS NULL
      THEN 2
    END AS BIGINT) AS g0,
    t.s0
  FROM (
    SELECT
      k0_0,
      COUNT(*) AS s0
    FROM (
      SELECT
        c3 AS k0_0
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
        LIMIT (
          SELECT
            3
        )
      ) AS t
    ) AS t
    GROUP BY
      k0_0
  ) AS t
) AS t
WHERE
  NOT g0 IS NULL
