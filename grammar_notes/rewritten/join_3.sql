-- AggregateBelowJoin
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
      CAST(CASE WHEN n > 12 THEN 12 ELSE n END AS INT) AS s0
    FROM (
      SELECT
        g0,
        n
      FROM (
        SELECT
          CAST(CASE
            WHEN n < 0
            THEN NULL
            WHEN k0_0 = 'F'
            THEN 0
            WHEN k0_0 = 'M'
            THEN 1
            WHEN k0_0 IS NULL
            THEN 2
          END AS BIGINT) AS g0,
          t.n
        FROM (
          SELECT
            c7 AS u,
            c3 AS k0_0,
            n
          FROM (
            SELECT
              c1,
              c3,
              c9,
              c7 AS c7,
              n
            FROM (
              SELECT
                t."patient_id" AS c1,
                t."sex" AS c3,
                t."patient_id" AS c7
              FROM "patients" AS t
              WHERE
                NOT t."patient_id" IS NULL
            ) AS t0
            CROSS JOIN (
              SELECT
                u AS c14,
                u AS c9,
                n
              FROM (
                SELECT
                  u,
                  COUNT(*) AS n
                FROM (
                  SELECT
                    c14 AS u
                  FROM (
                    SELECT
                      t."patient_id" AS c9,
                      t."patient_id" AS c14
                    FROM "visits" AS t
                    WHERE
                      NOT t."patient_id" IS NULL
                  ) AS t
                ) AS t
                GROUP BY
                  u
              ) AS t
            ) AS t1
            WHERE
              (
                c1 = c9
              )
          ) AS t
        ) AS t
      ) AS t
      WHERE
        NOT g0 IS NULL
    ) AS t
  ) AS t
) AS t
GROUP BY
  g0
