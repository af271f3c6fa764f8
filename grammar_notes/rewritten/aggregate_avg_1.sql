-- PerUnit
SELECT
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1
FROM (
  SELECT
    CAST(CASE WHEN s0 < 0 THEN 0 WHEN s0 > 12 THEN 12 ELSE s0 END AS INT) AS s0,
    CAST(CASE
      WHEN s1 < (
        -600000
      )
      THEN (
        -600000
      )
      WHEN s1 > 600000
      THEN 600000
      ELSE s1
    END AS INT) AS s1
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
      END AS s0,
      CASE
        WHEN n > 12
        THEN COALESCE(
          TRY_CAST(CAST(s1 AS INT128) * 12 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s1 AS INT128) * 12
          ) // n
        )
        ELSE s1
      END AS s1
    FROM (
      SELECT
        n,
        COALESCE(s0, 0) AS s0,
        COALESCE(
          TRY_CAST(TRY_CAST(s1 AS DECIMAL(15, 2)) * 100. AS INT128),
          TRY_CAST(TRY_CAST(s1 AS DECIMAL(35, 2)) * 100. AS INT128),
          0
        ) - CAST(m1 AS INT128) * 50000 AS s1
      FROM (
        SELECT
          u,
          COUNT(*) AS n,
          COUNT(r0) AS s0,
          SUM(CASE WHEN r1 < 0.00 THEN 0.00 WHEN r1 > 1000.00 THEN 1000.00 ELSE r1 END) AS s1,
          COUNT(r1) AS m1
        FROM (
          SELECT
            c7 AS u,
            c5 AS r0,
            c5 AS r1
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
