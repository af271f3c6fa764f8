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
              c1,
              c7,
              FALSE AS c17
            FROM (
              SELECT
                t."patient_id" AS c1,
                t."patient_id" AS c7
              FROM "patients" AS t
              WHERE
                NOT t."patient_id" IS NULL
            ) AS t0
            WHERE
              NOT EXISTS(
                SELECT
                  1
                FROM (
                  SELECT
                    c10 AS c16,
                    c15
                  FROM (
                    SELECT
                      t."patient_id" AS c10,
                      t."ward" AS c14,
                      t."patient_id" AS c15
                    FROM "visits" AS t
                    WHERE
                      NOT t."patient_id" IS NULL
                  ) AS t
                  WHERE
                    (
                      c14 = 'ER'
                    )
                ) AS t1
                WHERE
                  (
                    (
                      c1 = c16
                    ) OR (
                      c1 IS NULL
                    ) OR (
                      c16 IS NULL
                    )
                  )
                  AND c7 = c15
              )
          ) AS t
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
