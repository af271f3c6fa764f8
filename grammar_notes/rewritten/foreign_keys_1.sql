-- PerUnit
SELECT
  COALESCE(SUM(s0), 0) AS s0
FROM (
  SELECT
    s0 AS s0
  FROM (
    SELECT
      CAST(CASE WHEN n > 4 THEN 4 ELSE n END AS INT) AS s0
    FROM (
      SELECT
        n
      FROM (
        SELECT
          u,
          COUNT(*) AS n
        FROM (
          SELECT
            c5 AS u
          FROM (
            SELECT
              c1,
              c2,
              c5,
              TRUE AS c16
            FROM (
              SELECT
                t."item" AS c1,
                t."parcel" AS c2,
                t."buyer" AS c5
              FROM "lines" AS t
              WHERE
                NOT t."buyer" IS NULL
            ) AS t0
            WHERE
              EXISTS(
                SELECT
                  1
                FROM (
                  SELECT
                    c8 AS c14,
                    c9 AS c15
                  FROM (
                    SELECT
                      t."item" AS c8,
                      t."parcel" AS c9
                    FROM "returned" AS t
                  ) AS t
                ) AS t1
                WHERE
                  (
                    c14 = c1
                  ) AND (
                    TRY_CAST(c15 AS BIGINT) = c2
                  )
              )
          ) AS t
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
