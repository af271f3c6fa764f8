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
              c8 AS c10,
              c9 AS c11,
              c7
            FROM (
              SELECT
                c1,
                c2,
                c5,
                c6,
                c7,
                SUM(c5) OVER (
                  PARTITION BY c2, c7
                  ORDER BY TRY_CAST(c1 AS INT128) ASC
                  RANGE BETWEEN CAST('1' AS INT128) PRECEDING AND CAST('1' AS INT128) FOLLOWING
                ) AS c8,
                MAX(c5) OVER (PARTITION BY c2, c7 ORDER BY c6 ASC GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) AS c9
              FROM (
                SELECT
                  t."visit_id" AS c1,
                  t."patient_id" AS c2,
                  t."cost" AS c5,
                  t."ward" AS c6,
                  t."patient_id" AS c7
                FROM "visits" AS t
                WHERE
                  NOT t."patient_id" IS NULL
              ) AS t
            ) AS t
          ) AS t
          WHERE
            (
              (
                c10 > 10.00
              ) AND (
                TRY_CAST(c11 AS DECIMAL(12, 2)) < 500.00
              )
            )
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
