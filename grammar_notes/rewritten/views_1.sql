-- PerUnit
SELECT
  COALESCE(SUM(s0), 0) AS s0
FROM (
  SELECT
    CAST(CASE WHEN s0 < 0 THEN 0 WHEN s0 > 99 THEN 99 ELSE s0 END AS INT) AS s0
  FROM (
    SELECT
      CASE
        WHEN n > 1
        THEN COALESCE(
          TRY_CAST(CAST(s0 AS INT128) * 1 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s0 AS INT128) * 1
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
          SUM(CASE WHEN r0 < 18 THEN 18 WHEN r0 > 99 THEN 99 ELSE r0 END) AS s0
        FROM (
          SELECT
            u,
            TRY_CAST(v0 AS BIGINT) AS r0
          FROM (
            SELECT
              c6 AS u,
              c12 AS v0
            FROM (
              SELECT
                c8 AS c12,
                c6
              FROM (
                SELECT
                  c2 AS c8,
                  c6
                FROM (
                  SELECT
                    t."age" AS c2,
                    t."pupil_id" AS c6
                  FROM "pupils" AS t
                  WHERE
                    NOT t."pupil_id" IS NULL
                ) AS t
                WHERE
                  (
                    c2 >= 18
                  )
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
