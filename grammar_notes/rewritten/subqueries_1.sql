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
              c2,
              c7,
              TRUE AS c19
            FROM (
              SELECT
                t."patient_id" AS c1,
                t."age" AS c2,
                t."patient_id" AS c7
              FROM "patients" AS t
              WHERE
                NOT t."patient_id" IS NULL
            ) AS t0
            WHERE
              EXISTS(
                SELECT
                  1
                FROM (
                  SELECT
                    c10 AS c17,
                    c13 AS c18
                  FROM (
                    SELECT
                      t."patient_id" AS c10,
                      t."cost" AS c13
                    FROM "visits" AS t
                  ) AS t
                ) AS t1
                WHERE
                  (
                    c17 = c1
                  )
                  AND (
                    TRY_CAST(c18 AS DECIMAL(12, 2)) > TRY_CAST(c2 AS DECIMAL(12, 2))
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
