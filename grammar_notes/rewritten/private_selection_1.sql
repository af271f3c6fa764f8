-- PerUnit
SELECT
FROM (
  SELECT
  FROM (
    SELECT
    FROM (
      SELECT
        n
      FROM (
        SELECT
          u,
          COUNT(*) AS n
        FROM (
          SELECT
            u,
            x0 AS p0
          FROM (
            SELECT
              c20 AS u,
              c21 AS x0
            FROM (
              SELECT
                c17 AS c21,
                c20
              FROM (
                SELECT
                  t."bid" AS c17,
                  t."bidder_id" AS c20
                FROM "bids" AS t
                WHERE
                  NOT t."bidder_id" IS NULL
              ) AS t
            ) AS t
          ) AS t
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
WITH "rows of units" AS MATERIALIZED (
  SELECT
    u,
    CASE
      WHEN p0 >= CAST('35' AS DECIMAL(6, 2))
      THEN 2
      WHEN p0 >= CAST('20' AS DECIMAL(6, 2))
      THEN 1
      WHEN p0 >= CAST('5' AS DECIMAL(6, 2))
      THEN 0
    END AS p
  FROM (
    SELECT
      u,
      x0 AS p0
    FROM (
      SELECT
        c20 AS u,
        c21 AS x0
      FROM (
        SELECT
          c17 AS c21,
          c20
        FROM (
          SELECT
            t."bid" AS c17,
            t."bidder_id" AS c20
          FROM "bids" AS t
          WHERE
            NOT t."bidder_id" IS NULL
        ) AS t
      ) AS t
    ) AS t
  ) AS t
), "beyond limits" AS MATERIALIZED (
  SELECT
    *
  FROM (
    SELECT
      u,
      COUNT(p) AS m
    FROM "rows of units"
    GROUP BY
      u
  ) AS t
  WHERE
    m > 3
)
SELECT
  p,
  SUM(n) AS n
FROM (
  SELECT
    p,
    COUNT(*) AS n
  FROM (
    SELECT
      *
    FROM "rows of units" AS r
    WHERE
      NOT EXISTS(
        SELECT
          1
        FROM "beyond limits" AS b
        WHERE
          r.u IS NOT DISTINCT FROM b.u
      )
      AND NOT p IS NULL
  ) AS t
  GROUP BY
    p
  UNION ALL
  SELECT
    p,
    (
      c * 3 + CAST(HASH(u, $1) & 1073741823 AS INT) % m
    ) // m - (
      (
        c - n
      ) * 3 + CAST(HASH(u, $1) & 1073741823 AS INT) % m
    ) // m AS n
  FROM (
    SELECT
      *,
      SUM(n) OVER (PARTITION BY u ORDER BY HASH(u, p, $1), p) AS c
    FROM (
      SELECT
        r.u,
        r.p,
        b.m,
        COUNT(*) AS n
      FROM "rows of units" AS r
      JOIN "beyond limits" AS b
        ON r.u IS NOT DISTINCT FROM b.u
      WHERE
        NOT r.p IS NULL
      GROUP BY
        r.u,
        r.p,
        b.m
    ) AS t
  ) AS t
) AS t
GROUP BY
  p
