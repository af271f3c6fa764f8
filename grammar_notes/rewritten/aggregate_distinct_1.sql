-- PerUnit
SELECT
  COALESCE(d0.s0, 0) AS s0
FROM (
  SELECT
    COALESCE(SUM(s0), 0) AS s0
  FROM (
    SELECT
      120 AS s0
    FROM (
      SELECT
        1 AS s0
      FROM (
        SELECT
          n
        FROM (
          SELECT
            u,
            COUNT(*) AS n
          FROM (
            SELECT
              c7 AS u,
              c2 AS r0
            FROM (
              SELECT
                t."age" AS c2,
                t."patient_id" AS c7
              FROM "patients" AS t
              WHERE
                NOT t."patient_id" IS NULL
            ) AS t
          ) AS t
          GROUP BY
            u
        ) AS t
      ) AS t
    ) AS t
  ) AS t
) AS t
LEFT JOIN (
  SELECT
    SUM(
      DISTINCT CASE
        WHEN TRY_CAST(r0 AS BIGINT) < 0
        THEN 0
        WHEN TRY_CAST(r0 AS BIGINT) > 120
        THEN 120
        ELSE TRY_CAST(r0 AS BIGINT)
      END
    ) AS s0
  FROM (
    SELECT
      *
    FROM (
      SELECT
        u,
        r0
      FROM (
        SELECT
          c7 AS u,
          c2 AS r0
        FROM (
          SELECT
            t."age" AS c2,
            t."patient_id" AS c7
          FROM "patients" AS t
          WHERE
            NOT t."patient_id" IS NULL
        ) AS t
      ) AS t
      GROUP BY
        u,
        r0
    ) AS t
    WHERE
      NOT r0 IS NULL
    QUALIFY
      ROW_NUMBER() OVER (PARTITION BY u ORDER BY HASH(u, r0, $1), r0) <= 1
  ) AS t
) AS d0
  ON TRUE
