-- PerUnit
SELECT
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1
FROM (
  SELECT
    CAST(CASE WHEN s0 < 0 THEN 0 WHEN s0 > 1 THEN 1 ELSE s0 END AS INT) AS s0,
    CAST(CASE
      WHEN s1 < (
        -629145600
      )
      THEN (
        -629145600
      )
      WHEN s1 > 629145600
      THEN 629145600
      ELSE s1
    END AS INT) AS s1
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
      END AS s1
    FROM (
      SELECT
        n,
        COALESCE(s0, 0) AS s0,
        COALESCE(s1, 0) - CAST(m1 AS INT128) * 629145600 AS s1
      FROM (
        SELECT
          u,
          COUNT(*) AS n,
          COUNT(r0) AS s0,
          SUM(CASE WHEN r1 < 0 THEN 0 WHEN r1 > 1258291200 THEN 1258291200 ELSE r1 END) AS s1,
          COUNT(r1) AS m1
        FROM (
          SELECT
            u,
            v0 AS r0,
            TRY_CAST(CASE
              WHEN ISNAN(v1)
              THEN NULL
              WHEN v1 < CAST('0.0' AS DOUBLE)
              THEN CAST('0.0' AS DOUBLE)
              WHEN v1 > CAST('300.0' AS DOUBLE)
              THEN CAST('300.0' AS DOUBLE)
              ELSE v1
            END * CAST('4194304.0' AS DOUBLE) AS BIGINT) AS r1
          FROM (
            SELECT
              c15 AS u,
              CASE WHEN NOT c12 IS NULL AND NOT ISNAN(c12) THEN 1 END AS v0,
              c12 AS v1
            FROM (
              SELECT
                t."weight" AS c12,
                t."patient_id" AS c15
              FROM "patients" AS t
              WHERE
                NOT t."patient_id" IS NULL
            ) AS t
          ) AS t
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
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
              c4,
              c17,
              c7 AS c7
            FROM (
              SELECT
                t."weight" AS c4,
                t."patient_id" AS c7
              FROM "patients" AS t
              WHERE
                NOT t."patient_id" IS NULL
            ) AS t0
            LEFT JOIN (
              SELECT
                c16 AS c17
              FROM (
                SELECT
                  TRY_CAST(c16 AS DOUBLE) AS c16
                FROM release_0
              ) AS t
            ) AS t1
              ON TRUE
          ) AS t
          WHERE
            (
              c4 > c17
            )
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
