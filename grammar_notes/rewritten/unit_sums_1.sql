-- PerUnit
SELECT
  g0,
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1
FROM (
  SELECT
    g0,
    s0 AS s0,
    CAST(CASE WHEN s1 < 0 THEN 0 WHEN s1 > 150000 THEN 150000 ELSE s1 END AS INT) AS s1
  FROM (
    SELECT
      g0,
      CAST(CASE WHEN n > 3 THEN 3 ELSE n END AS INT) AS s0,
      s1 AS s1
    FROM (
      SELECT
        g0,
        n,
        COALESCE(
          TRY_CAST(TRY_CAST(s1 AS DECIMAL(15, 2)) * 100. AS INT128),
          TRY_CAST(TRY_CAST(s1 AS DECIMAL(35, 2)) * 100. AS INT128),
          0
        ) AS s1
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
          t.n,
          t.s1
        FROM (
          SELECT
            u,
            k0_0,
            COUNT(*) AS n,
            SUM(CASE WHEN r1 < 0.00 THEN 0.00 WHEN r1 > 1000.00 THEN 1000.00 ELSE r1 END) AS s1
          FROM (
            SELECT
              c7 AS u,
              c6 AS k0_0,
              c5 AS r1
            FROM (
              SELECT
                t."cost" AS c5,
                t."ward" AS c6,
                t."patient_id" AS c7
              FROM "visits" AS t
              WHERE
                NOT t."patient_id" IS NULL
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
