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
              c2,
              c8,
              c9,
              c7 AS c7
            FROM (
              SELECT
                t."patient_id" AS c2,
                t."patient_id" AS c7
              FROM "visits" AS t
              WHERE
                NOT t."patient_id" IS NULL
            ) AS t0
            CROSS JOIN (
              SELECT
                t."patient_id" AS c8,
                t."age" AS c9,
                t."patient_id" AS c14
              FROM "patients" AS t
              WHERE
                NOT t."patient_id" IS NULL
            ) AS t1
            WHERE
              (
                c2 = c8
              ) AND (
                c9 >= 18
              )
          ) AS t
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
