-- PerUnit
SELECT
  COALESCE(SUM(s0), 0) AS s0
FROM (
  SELECT
    CAST(CASE WHEN s0 < 0 THEN 0 WHEN s0 > 240000 THEN 240000 ELSE s0 END AS INT) AS s0
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
          SUM(CASE WHEN r0 < 100.00 THEN 100.00 WHEN r0 > 200.00 THEN 200.00 ELSE r0 END) AS s0
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
          WHERE
            (
              (
                TRY_CAST(c5 AS DECIMAL(12, 2)) >= 100.00
              )
              AND (
                TRY_CAST(c5 AS DECIMAL(12, 2)) <= 200.00
              )
            )
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
