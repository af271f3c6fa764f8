-- PerUnit
SELECT
  COALESCE(SUM(s0), 0) AS s0
FROM (
  SELECT
    s0 AS s0
  FROM (
    SELECT
      CAST(CASE WHEN n > 1 THEN 1 ELSE n END AS INT) AS s0
    FROM (
      SELECT
        n
      FROM (
        SELECT
          u,
          COUNT(*) AS n
        FROM (
          SELECT
            c10 AS u
          FROM (
            SELECT
              t."form" AS c5,
              t."person_id" AS c10
            FROM "people" AS t
            WHERE
              NOT t."person_id" IS NULL
          ) AS t
          WHERE
            (
              (
                TRY(TRY(c5) ->> '$.address.town') = 'Bonn'
              )
              OR (
                TRY(TRY(c5) ->> '$.tags[0]') = 'x'
              )
            )
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
