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
              c10 AS c14,
              c11 AS c15,
              c7
            FROM (
              SELECT
                c8 AS c12,
                MAX(c9) AS c10,
                MIN(c9) AS c11,
                c7
              FROM (
                SELECT
                  c2 AS c8,
                  (
                    CASE WHEN (
                      c6 = 'ER'
                    ) THEN (
                      -1
                    ) ELSE 1 END * CAST('0.0' AS DOUBLE)
                  ) AS c9,
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
              GROUP BY
                c8,
                c7
            ) AS t
          ) AS t
          WHERE
            (
              (
                REPLACE(TRY_CAST((
                  c14 + CAST(0 AS DOUBLE)
                ) AS TEXT), '-nan', 'nan') = '0.0'
              )
              AND (
                NOT (
                  c15 < 0
                )
              )
            )
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
