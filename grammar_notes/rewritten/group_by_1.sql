-- PerUnit
SELECT
  g0,
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1
FROM (
  SELECT
    *
  FROM (
    SELECT
      u,
      g0,
      s0 AS s0,
      1 AS s1
    FROM (
      SELECT
        u,
        g0,
        CAST(CASE WHEN n > 3 THEN 3 ELSE n END AS INT) AS s0,
        1 AS s1
      FROM (
        SELECT
          u,
          g0,
          n
        FROM (
          SELECT
            u,
            g0,
            COUNT(*) AS n
          FROM (
            SELECT
              c7 AS u,
              LIST_EXTRACT(
                LIST_TRANSFORM(
                  [
                    (
                      (
                        c11 * 0
                      ) * CASE WHEN (
                        TRY_CAST(c5 AS DECIMAL(12, 2)) > 500.00
                      ) THEN (
                        -1
                      ) ELSE 1 END
                    )
                  ],
                  LAMBDA v : CASE WHEN ISFINITE(v) THEN v END
                ),
                1
              ) + CAST(0 AS DOUBLE) AS g0
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
          ) AS t
          GROUP BY
            u,
            g0
        ) AS t
      ) AS t
    ) AS t
  ) AS t
  QUALIFY
    ROW_NUMBER() OVER (PARTITION BY u ORDER BY HASH(u, g0, $1), g0) <= 4
) AS t
GROUP BY
  g0
