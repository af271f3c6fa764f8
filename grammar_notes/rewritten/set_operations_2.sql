-- PerUnit
SELECT
  COALESCE(SUM(s0), 0) AS s0
FROM (
  SELECT
    s0 AS s0
  FROM (
    SELECT
      CAST(CASE WHEN n > 12 THEN 12 ELSE n END AS INT) AS s0
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
              *
            FROM (
              SELECT
                c19 AS c23,
                c20 AS c24,
                c7 AS c7
              FROM (
                SELECT
                  c8 AS c19,
                  c9 AS c20,
                  c7
                FROM (
                  SELECT
                    c2 AS c8,
                    c6 AS c9,
                    c7
                  FROM (
                    SELECT
                      t."patient_id" AS c2,
                      t."ward" AS c6,
                      t."patient_id" AS c7
                    FROM "visits" AS t
                    WHERE
                      NOT t."patient_id" IS NULL
                  ) AS t
                ) AS t
              ) AS t
              INTERSECT
              SELECT
                c21 AS c23,
                c22 AS c24,
                c16 AS c7
              FROM (
                SELECT
                  c17 AS c21,
                  c18 AS c22,
                  c16
                FROM (
                  SELECT
                    c10 AS c17,
                    'ER' AS c18,
                    c16
                  FROM (
                    SELECT
                      t."patient_id" AS c10,
                      t."patient_id" AS c16
                    FROM "patients" AS t
                    WHERE
                      NOT t."patient_id" IS NULL
                  ) AS t
                ) AS t
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
