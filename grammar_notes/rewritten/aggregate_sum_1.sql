-- PerUnit
SELECT
  COALESCE(SUM(s0), 0) AS s0
FROM (
  SELECT
    CAST(CASE WHEN s0 < 0 THEN 0 WHEN s0 > 1200000 THEN 1200000 ELSE s0 END AS INT) AS s0
  FROM (
    SELECT
      CASE
        WHEN n > 12
        THEN COALESCE(
          TRY_CAST(CAST(s0 AS INT128) * 12 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s0 AS INT128) * 12
          ) // n
        )
        ELSE s0
      END AS s0
    FROM (
      SELECT
        n,
        COALESCE(
          TRY_CAST(TRY_CAST(s0 AS DECIMAL(15, 2)) * 100. AS INT128),
          TRY_CAST(TRY_CAST(s0 AS DECIMAL(35, 2)) * 100. AS INT128),
          0
        ) AS s0
      FROM (
        SELECT
          u,
          COUNT(*) AS n,
          SUM(CASE WHEN r0 < 0.00 THEN 0.00 WHEN r0 > 1000.00 THEN 1000.00 ELSE r0 END) AS s0
        FROM (
          SELECT
            c7 AS u,
            c5 AS r0
          FROM (
            SELECT
              t."cost" AS c5,
              t."patient_id" AS c7
            FROM "visits" AS t
            WHERE
              NOT t."patient_id" IS NULL
          ) AS t
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
