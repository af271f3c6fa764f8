-- AggregateBelowJoin
SELECT
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1
FROM (
  SELECT
    s0 AS s0,
    CAST(CASE WHEN s1 < 0 THEN 0 WHEN s1 > 1200000 THEN 1200000 ELSE s1 END AS INT) AS s1
  FROM (
    SELECT
      CAST(CASE WHEN n > 12 THEN 12 ELSE n END AS INT) AS s0,
      CASE
        WHEN n > 12
        THEN COALESCE(
          TRY_CAST(CAST(s1 AS INT128) * 12 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s1 AS INT128) * 12
          ) // n
        )
        ELSE s1
      END AS s1
    FROM (
      SELECT
        n,
        COALESCE(
          TRY_CAST(TRY_CAST(s1 AS DECIMAL(15, 2)) * 100. AS INT128),
          TRY_CAST(TRY_CAST(s1 AS DECIMAL(35, 2)) * 100. AS INT128),
          0
        ) AS s1
      FROM (
        SELECT
          u,
          SUM(n) AS n,
          SUM(s1) AS s1
        FROM (
          SELECT
            c7 AS u,
            n,
            s1
          FROM (
            SELECT
              c1,
              c9,
              c7 AS c7,
              n,
              s1
            FROM (
              SELECT
                t."patient_id" AS c1,
                t."patient_id" AS c7
              FROM "patients" AS t
              WHERE
                NOT t."patient_id" IS NULL
            ) AS t0
            CROSS JOIN (
              SELECT
                u AS c14,
                u AS c9,
                n,
                s1
              FROM (
                SELECT
                  u,
                  COUNT(*) AS n,
                  SUM(CASE WHEN r1 < 0.00 THEN 0.00 WHEN r1 > 1000.00 THEN 1000.00 ELSE r1 END) AS s1
                FROM (
                  SELECT
                    c14 AS u,
                    c12 AS r1
                  FROM (
                    SELECT
                      t."patient_id" AS c9,
                      t."cost" AS c12,
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
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
