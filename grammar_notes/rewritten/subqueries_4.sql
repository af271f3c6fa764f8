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
      CAST(CASE WHEN n > 2 THEN 2 ELSE n END AS INT) AS s0
    FROM (
      SELECT
        g0,
        n
      FROM (
        SELECT
          CAST(CASE
            WHEN n < 0
            THEN NULL
            WHEN k0_0 = 'blood'
            THEN 0
            WHEN k0_0 = 'scan'
            THEN 1
            WHEN k0_0 IS NULL
            THEN 2
          END AS BIGINT) AS g0,
          t.n
        FROM (
          SELECT
            u,
            k0_0,
            COUNT(*) AS n
          FROM (
            SELECT
              c5 AS u,
              c3 AS k0_0
            FROM (
              SELECT
                c2,
                c3,
                c5,
                TRUE AS c16
              FROM (
                SELECT
                  t."visit_id" AS c2,
                  t."kind" AS c3,
                  p0."patient_id" AS c5
                FROM "tests" AS t
                JOIN "visits" AS p0
                  ON t."visit_id" = p0."visit_id"
                WHERE
                  NOT p0."patient_id" IS NULL
              ) AS t0
              WHERE
                EXISTS(
                  SELECT
                    1
                  FROM (
                    SELECT
                      c7 AS c15,
                      c13
                    FROM (
                      SELECT
                        t."visit_id" AS c7,
                        t."ward" AS c12,
                        t."patient_id" AS c13
                      FROM "visits" AS t
                      WHERE
                        NOT t."patient_id" IS NULL
                    ) AS t
                    WHERE
                      (
                        c12 = 'ER'
                      )
                  ) AS t1
                  WHERE
                    (
                      c15 = c2
                    ) AND c5 = c13
                )
            ) AS t
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
