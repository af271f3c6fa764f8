-- PerUnit
SELECT
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1,
  COALESCE(SUM(s2), 0) AS s2,
  COALESCE(SUM(s3), 0) AS s3,
  COALESCE(SUM(s4), 0) AS s4
FROM (
  SELECT
    CAST(CASE WHEN s0 < 0 THEN 0 WHEN s0 > 1 THEN 1 ELSE s0 END AS INT) AS s0,
    CAST(CASE
      WHEN s1 < (
        -3200000
      )
      THEN (
        -3200000
      )
      WHEN s1 > 3200000
      THEN 3200000
      ELSE s1
    END AS INT) AS s1,
    CAST(CASE WHEN s2 < 0 THEN 0 WHEN s2 > 1 THEN 1 ELSE s2 END AS INT) AS s2,
    CAST(CASE WHEN s3 < (
      -50000
    ) THEN (
      -50000
    ) WHEN s3 > 50000 THEN 50000 ELSE s3 END AS INT) AS s3,
    CAST(CASE WHEN s4 < 0 THEN 0 WHEN s4 > 1258291200 THEN 1258291200 ELSE s4 END AS INT) AS s4
  FROM (
    SELECT
      CASE
        WHEN n > 1
        THEN COALESCE(
          TRY_CAST(CAST(s0 AS INT128) * 1 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s0 AS INT128) * 1
          ) // n
        )
        ELSE s0
      END AS s0,
      CASE
        WHEN n > 1
        THEN COALESCE(
          TRY_CAST(CAST(s1 AS INT128) * 1 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s1 AS INT128) * 1
          ) // n
        )
        ELSE s1
      END AS s1,
      CASE
        WHEN n > 1
        THEN COALESCE(
          TRY_CAST(CAST(s2 AS INT128) * 1 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s2 AS INT128) * 1
          ) // n
        )
        ELSE s2
      END AS s2,
      CASE
        WHEN n > 1
        THEN COALESCE(
          TRY_CAST(CAST(s3 AS INT128) * 1 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s3 AS INT128) * 1
          ) // n
        )
        ELSE s3
      END AS s3,
      CASE
        WHEN n > 1
        THEN COALESCE(
          TRY_CAST(CAST(s4 AS INT128) * 1 AS BIGINT) // TRY_CAST(n AS BIGINT),
          (
            CAST(s4 AS INT128) * 1
          ) // n
        )
        ELSE s4
      END AS s4
    FROM (
      SELECT
        n,
        COALESCE(s0, 0) AS s0,
        COALESCE(
          TRY_CAST(TRY_CAST(s1 AS DECIMAL(15, 2)) * 100. AS INT128),
          TRY_CAST(TRY_CAST(s1 AS DECIMAL(35, 2)) * 100. AS INT128),
          0
        ) - CAST(m1 AS INT128) * 3200000 AS s1,
        COALESCE(s2, 0) AS s2,
        COALESCE(
          TRY_CAST(TRY_CAST(s3 AS DECIMAL(15, 2)) * 100. AS INT128),
          TRY_CAST(TRY_CAST(s3 AS DECIMAL(35, 2)) * 100. AS INT128),
          0
        ) - CAST(m3 AS INT128) * 50000 AS s3,
        COALESCE(s4, 0) AS s4
      FROM (
        SELECT
          u,
          COUNT(*) AS n,
          COUNT(r0) AS s0,
          SUM(CASE WHEN r1 < 0.00 THEN 0.00 WHEN r1 > 64000.00 THEN 64000.00 ELSE r1 END) AS s1,
          COUNT(r1) AS m1,
          COUNT(r2) AS s2,
          SUM(CASE WHEN r3 < 0.00 THEN 0.00 WHEN r3 > 1000.00 THEN 1000.00 ELSE r3 END) AS s3,
          COUNT(r3) AS m3,
          SUM(CASE WHEN r4 < 0 THEN 0 WHEN r4 > 1258291200 THEN 1258291200 ELSE r4 END) AS s4
        FROM (
          SELECT
            u,
            v0 AS r0,
            v1 AS r1,
            v2 AS r2,
            v3 AS r3,
            TRY_CAST(CASE
              WHEN ISNAN(v4)
              THEN NULL
              WHEN v4 < CAST('0.0' AS DOUBLE)
              THEN CAST('0.0' AS DOUBLE)
              WHEN v4 > CAST('300.0' AS DOUBLE)
              THEN CAST('300.0' AS DOUBLE)
              ELSE v4
            END * CAST('4194304.0' AS DOUBLE) AS BIGINT) AS r4
          FROM (
            SELECT
              c7 AS u,
              c20 AS v0,
              c20 AS v1,
              c21 AS v2,
              c21 AS v3,
              c22 AS v4
            FROM (
              SELECT
                c15 AS c20,
                c16 AS c21,
                c17 AS c22,
                c7
              FROM (
                SELECT
                  c2 AS c18,
                  SUM(c5) AS c15,
                  MAX(c5) AS c16,
                  (
                    SUM(TRY_CAST(c11 * CAST('1048576.0' AS DOUBLE) AS BIGINT)) / CAST('1048576.0' AS DOUBLE)
                  ) / NULLIF(COUNT(TRY_CAST(c11 * CAST('1048576.0' AS DOUBLE) AS BIGINT)), 0) AS c17,
                  c7
                FROM (
                  SELECT
                    c2,
                    c5,
                    c8,
                    c11,
                    c7 AS c7
                  FROM (
                    SELECT
                      t."patient_id" AS c2,
                      t."cost" AS c5,
                      t."patient_id" AS c7
                    FROM "visits" AS t
                    WHERE
                      NOT t."patient_id" IS NULL
                  ) AS t0
                  CROSS JOIN (
                    SELECT
                      t."patient_id" AS c8,
                      t."weight" AS c11,
                      t."patient_id" AS c14
                    FROM "patients" AS t
                    WHERE
                      NOT t."patient_id" IS NULL
                  ) AS t1
                  WHERE
                    (
                      c2 = c8
                    )
                ) AS t
                GROUP BY
                  c2,
                  c7
              ) AS t
            ) AS t
          ) AS t
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
