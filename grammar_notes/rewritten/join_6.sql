-- PerUnit
SELECT
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1
FROM (
  SELECT
    s0 AS s0,
    CAST(CASE WHEN s1 < (
      -150
    ) THEN (
      -150
    ) WHEN s1 > 150 THEN 150 ELSE s1 END AS INT) AS s1
  FROM (
    SELECT
      CAST(CASE WHEN n > 6 THEN 6 ELSE n END AS INT) AS s0,
      CASE
        WHEN n > 6
        THEN COALESCE(
          TRY_CAST(CAST(s1 AS INT128) * 6 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s1 AS INT128) * 6
          ) // n
        )
        ELSE s1
      END AS s1
    FROM (
      SELECT
        n,
        COALESCE(s1, 0) AS s1
      FROM (
        SELECT
          u,
          COUNT(*) AS n,
          SUM(CASE WHEN r1 < (
            -25
          ) THEN (
            -25
          ) WHEN r1 > 25 THEN 25 ELSE r1 END) AS s1
        FROM (
          SELECT
            u,
            TRY_CAST(v1 AS BIGINT) AS r1
          FROM (
            SELECT
              c5 AS u,
              TRY_CAST(CAST(c4 AS BIGINT) * c9 AS INT) AS v1
            FROM (
              SELECT
                c2,
                c4,
                c7,
                c9,
                c5 AS c5
              FROM (
                SELECT
                  t."visit_id" AS c2,
                  t."score" AS c4,
                  p0."patient_id" AS c5
                FROM "tests" AS t
                JOIN "visits" AS p0
                  ON t."visit_id" = p0."visit_id"
                WHERE
                  NOT p0."patient_id" IS NULL
              ) AS t0
              CROSS JOIN (
                SELECT
                  t."visit_id" AS c7,
                  t."score" AS c9,
                  p0."patient_id" AS c10
                FROM "tests" AS t
                JOIN "visits" AS p0
                  ON t."visit_id" = p0."visit_id"
                WHERE
                  NOT p0."patient_id" IS NULL
              ) AS t1
              WHERE
                (
                  c2 = c7
                ) AND c5 = c10
            ) AS t
          ) AS t
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
