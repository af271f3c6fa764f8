-- PerUnit
SELECT
  COALESCE(SUM(TRY(s0)), 0) AS s0
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
              c18,
              c19,
              c7 AS c7
            FROM (
              SELECT
                t."patient_id" AS c1,
                t."age" AS c2,
                t."patient_id" AS c7
              FROM "patients" AS t
              WHERE
                NOT t."patient_id" IS NULL
            ) AS t0
            LEFT JOIN (
              SELECT
                c16 AS c18,
                c17 AS c19,
                c15
              FROM (
                SELECT
                  c10 AS c17,
                  SUM(c13) AS c16,
                  c15
                FROM (
                  SELECT
                    t."patient_id" AS c10,
                    t."cost" AS c13,
                    t."patient_id" AS c15
                  FROM "visits" AS t
                  WHERE
                    NOT t."patient_id" IS NULL
                ) AS t
                GROUP BY
                  c10,
                  c15
              ) AS t
            ) AS t1
              ON (
                c19 = c1
              ) AND c7 = c15
          ) AS t
          WHERE
            (
              TRY_CAST(c2 AS DECIMAL(38, 2)) < c18
            )
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
