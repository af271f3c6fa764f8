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
            c7 AS u
          FROM (
            SELECT
              t."city" AS c6,
              t."patient_id" AS c7
            FROM "patients" AS t
            WHERE
              NOT t."patient_id" IS NULL
          ) AS t
          WHERE
            (
              (
                LOWER(c6) LIKE 'r%'
              )
              AND (
                LENGTH(UPPER(c6)) < 9
              )
              AND (
                SUBSTRING(c6, 1, 2) <> 'xx'
              )
            )
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
