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
              t."age" AS c2,
              t."weight" AS c4,
              t."city" AS c6,
              t."patient_id" AS c7
            FROM "patients" AS t
            WHERE
              NOT t."patient_id" IS NULL
          ) AS t
          WHERE
            (
              (
                TRY(TRY_CAST(c6 AS INT) + c2) > 3
              )
              AND (
                (
                  c4 / NULLIF(c2, 0)
                ) > CAST('1.0' AS DOUBLE)
              )
            )
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
