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
              c8 AS c11,
              c7
            FROM (
              SELECT
                c1 AS c9,
                QUANTILE_CONT(
                  TRY_CAST(TRY_CAST(CASE
                    WHEN (
                      (
                        c1 = 17
                      ) AND (
                        c2 = 37
                      )
                    )
                    THEN '300000-01-01'
                    ELSE '2020-01-01'
                  END AS DATE) AS TIMESTAMP),
                  CAST('0.5' AS DOUBLE)
                ) AS c8,
                c7
              FROM (
                SELECT
                  t."patient_id" AS c1,
                  t."age" AS c2,
                  t."patient_id" AS c7
                FROM "patients" AS t
                WHERE
                  NOT t."patient_id" IS NULL
              ) AS t
              GROUP BY
                c1,
                c7
            ) AS t
          ) AS t
          WHERE
            (
              c11 IS NULL
            )
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
