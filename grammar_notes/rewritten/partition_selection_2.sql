-- PerUnit
SELECT
  g0,
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1
FROM (
  SELECT
    *
  FROM (
    SELECT
      u,
      g0,
      s0 AS s0,
      1 AS s1
    FROM (
      SELECT
        u,
        g0,
        CAST(CASE WHEN n > 3 THEN 3 ELSE n END AS INT) AS s0,
        1 AS s1
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
              c7 AS u,
              CASE
                WHEN TRY((
                  TRY(c4) + CAST('9000 years' AS INTERVAL)
                )) BETWEEN CAST('0001-01-01 00:00:00' AS TIMESTAMP) AND CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP)
                THEN TRY((
                  TRY(c4) + CAST('9000 years' AS INTERVAL)
                ))
              END AS g0
            FROM (
              SELECT
                t."visit_date" AS c4,
                t."patient_id" AS c7
              FROM "visits" AS t
              WHERE
                NOT t."patient_id" IS NULL
            ) AS t
          ) AS t
          GROUP BY
            u,
            g0
        ) AS t
      ) AS t
    ) AS t
  ) AS t
  QUALIFY
    ROW_NUMBER() OVER (PARTITION BY u ORDER BY HASH(u, g0, $1), g0) <= 4
) AS t
GROUP BY
  g0
