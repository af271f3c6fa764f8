-- PerUnit
SELECT
  COALESCE(SUM(TRY(s0)), 0) AS s0
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
              c1,
              c2,
              c5,
              c21,
              c22,
              c23,
              c7 AS c7
            FROM (
              SELECT
                t."visit_id" AS c1,
                t."patient_id" AS c2,
                t."cost" AS c5,
                t."patient_id" AS c7
              FROM "visits" AS t
              WHERE
                NOT t."patient_id" IS NULL
            ) AS t0
            LEFT JOIN (
              SELECT
                c16 AS c21,
                c19 AS c22,
                c20 AS c23,
                c30
              FROM (
                SELECT
                  c10 AS c19,
                  c17 AS c20,
                  (
                    SUM(c13)
                  ) / NULLIF(COUNT(c13), 0) AS c16,
                  c30
                FROM (
                  SELECT
                    c17,
                    c18,
                    c9,
                    c10,
                    c13,
                    c30 AS c30
                  FROM (
                    SELECT
                      c24 AS c17,
                      c25 AS c18,
                      c30
                    FROM (
                      SELECT
                        t."visit_id" AS c24,
                        t."patient_id" AS c25,
                        t."patient_id" AS c30
                      FROM "visits" AS t
                      WHERE
                        NOT t."patient_id" IS NULL
                    ) AS t
                    GROUP BY
                      c24,
                      c25,
                      c30
                  ) AS t0
                  CROSS JOIN (
                    SELECT
                      t."visit_id" AS c9,
                      t."patient_id" AS c10,
                      t."cost" AS c13,
                      t."patient_id" AS c15
                    FROM "visits" AS t
                    WHERE
                      NOT t."patient_id" IS NULL
                  ) AS t1
                  WHERE
                    (
                      c10 = c18
                    ) AND (
                      c9 <> c17
                    ) AND c30 = c15
                ) AS t
                GROUP BY
                  c10,
                  c17,
                  c30
              ) AS t
            ) AS t1
              ON (
                c22 = c2
              ) AND (
                c23 = c1
              ) AND c7 = c30
          ) AS t
          WHERE
            (
              TRY_CAST(c5 AS DOUBLE) > c21
            )
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
