-- PerUnit
SELECT
  COALESCE(SUM(s0), 0) AS s0
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
              c8 AS c11,
              c7
            FROM (
              SELECT
                c1 AS c9,
                LIST_SUM(
                  LIST_TRANSFORM(
                    ARRAY_AGG(DISTINCT c4),
                    LAMBDA v : TRY_CAST(v * CAST('1048576.0' AS DOUBLE) AS BIGINT)
                  )
                ) / CAST('1048576.0' AS DOUBLE) AS c8,
                c7
              FROM (
                SELECT
                  t."patient_id" AS c1,
                  t."weight" AS c4,
                  t."patient_id" AS c7
                FROM "patients" AS t
                WHERE
                  NOT t."patient_id" IS NULL
              ) AS t
              GROUP BY
                c1,
                c7
            ) AS t
          ) AS t
          WHERE
            (
              c11 > CAST('1.0' AS DOUBLE)
            )
        ) AS t
        GROUP BY
          u
      ) AS t
    ) AS t
  ) AS t
) AS t
