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
              c1 AS c17,
              (
                REPLACE(TRY_CAST((
                  c16 + CAST(0 AS REAL)
                ) AS TEXT), '-nan', 'nan') || ''
              ) AS c18,
              c7
            FROM (
              SELECT
                c1,
                c15,
                c16,
                c7 AS c7
              FROM (
                SELECT
                  t."patient_id" AS c1,
                  t."patient_id" AS c7
                FROM "patients" AS t
                WHERE
                  NOT t."patient_id" IS NULL
              ) AS t0
              CROSS JOIN (
                SELECT
                  c9 AS c15,
                  (
                    CASE WHEN (
                      c13 = 'ER'
                    ) THEN (
                      -1
                    ) ELSE 1 END * CAST('0.0' AS REAL)
                  ) AS c16,
                  c14
                FROM (
                  SELECT
                    t."patient_id" AS c9,
                    t."ward" AS c13,
                    t."patient_id" AS c14
                  FROM "visits" AS t
                  WHERE
                    NOT t."patient_id" IS NULL
                ) AS t
              ) AS t1
              WHERE
                (
                  c15 = c1
                ) AND (
                  c16 = CAST('0.0' AS REAL)
                ) AND c7 = c14
            ) AS t
            GROUP BY
              c1,
              (
                REPLACE(TRY_CAST((
                  c16 + CAST(0 AS REAL)
                ) AS TEXT), '-nan', 'nan') || ''
              ),
              c7
          ) AS t
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
