-- PerUnit
SELECT
  g0,
  COALESCE(SUM(s0), 0) AS s0
FROM (
  SELECT
    g0,
    s0 AS s0
  FROM (
    SELECT
      g0,
      CAST(CASE WHEN n > 3 THEN 3 ELSE n END AS INT) AS s0
    FROM (
      SELECT
        g0,
        n
      FROM (
        SELECT
          CAST(CASE
            WHEN n < 0
            THEN NULL
            WHEN k0_0 = 'ER'
            THEN 0
            WHEN k0_0 = 'ICU'
            THEN 1
            WHEN k0_0 = 'GP'
            THEN 2
            WHEN k0_0 IS NULL
            THEN 3
          END AS BIGINT) AS g0,
          t.n
        FROM (
          SELECT
            u,
            k0_0,
            COUNT(*) AS n
          FROM (
            SELECT
              c7 AS u,
              c11 AS k0_0
            FROM (
              SELECT
                c6 AS c11,
                c8 AS c12,
                c9 AS c13,
                c7
              FROM (
                SELECT
                  c2,
                  c4,
                  c5,
                  c6,
                  c7,
                  ROW_NUMBER() OVER (PARTITION BY c2, c7 ORDER BY c4 ASC, c2, c4, c5, c6) AS c8,
                  LAG(c5) OVER (PARTITION BY c2, c7 ORDER BY c4 ASC, c2, c4, c5, c6) AS c9
                FROM (
                  SELECT
                    t."patient_id" AS c2,
                    t."visit_date" AS c4,
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
                  c12 <= 2
                ) AND (
                  TRY_CAST(c13 AS DECIMAL(12, 2)) > 10.00
                )
              )
          ) AS t
          GROUP BY
            u,
            k0_0
        ) AS t
      ) AS t
      WHERE
        NOT g0 IS NULL
    ) AS t
  ) AS t
) AS t
GROUP BY
  g0
