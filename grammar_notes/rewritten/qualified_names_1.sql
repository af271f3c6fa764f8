-- PerUnit
SELECT
  COALESCE(SUM(s0), 0) AS s0
FROM (
  SELECT
    CAST(CASE WHEN s0 < 0 THEN 0 WHEN s0 > 240 THEN 240 ELSE s0 END AS INT) AS s0
  FROM (
    SELECT
      CASE
        WHEN n > 4
        THEN COALESCE(
          TRY_CAST(CAST(s0 AS INT128) * 4 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s0 AS INT128) * 4
          ) // n
        )
        ELSE s0
      END AS s0
    FROM (
      SELECT
        n,
        COALESCE(s0, 0) AS s0
      FROM (
        SELECT
          u,
          COUNT(*) AS n,
          SUM(CASE WHEN r0 < 0 THEN 0 WHEN r0 > 60 THEN 60 ELSE r0 END) AS s0
        FROM (
          SELECT
            u,
            TRY_CAST(v0 AS BIGINT) AS r0
          FROM (
            SELECT
              c3 AS u,
              c2 AS v0
            FROM (
              SELECT
                t."minutes" AS c2,
                p0."person_id" AS c3
              FROM "breaks" AS t
              JOIN "plant.shifts" AS p0
                ON t."shift_id" = p0."shift_id"
              WHERE
                NOT p0."person_id" IS NULL
            ) AS t
          ) AS t
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
