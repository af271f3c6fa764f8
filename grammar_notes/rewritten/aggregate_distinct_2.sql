-- PerUnit
SELECT
  t.g0,
  COALESCE(d0.s0, 0) AS s0,
  COALESCE(d1.s1, 0) AS s1,
  COALESCE(d2.s2, 0) AS s2
FROM (
  SELECT
    g0,
    COALESCE(SUM(s0), 0) AS s0,
    COALESCE(SUM(s1), 0) AS s1,
    COALESCE(SUM(s2), 0) AS s2
  FROM (
    SELECT
      g0,
      3 AS s0,
      148500 AS s1,
      300000 AS s2
    FROM (
      SELECT
        g0,
        1 AS s0,
        1 AS s1,
        1 AS s2
      FROM (
        SELECT
          g0,
          n
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
            t.n
          FROM (
            SELECT
              u,
              k0_0,
              COUNT(*) AS n
            FROM (
              SELECT
                c7 AS u,
                c6 AS k0_0,
                CASE WHEN (
                  TRY_CAST(c5 AS DECIMAL(12, 2)) > 10.00
                ) THEN c5 END AS r0,
                CASE WHEN (
                  TRY_CAST(c5 AS DECIMAL(12, 2)) > 10.00
                ) THEN c5 END AS r1,
                c5 AS r2
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
) AS t
LEFT JOIN (
  SELECT
    g0,
    COUNT(DISTINCT r0) AS s0
  FROM (
    SELECT
      *
    FROM (
      SELECT
        u,
        g0,
        r0
      FROM (
        SELECT
          c7 AS u,
          d0.cell AS g0,
          CASE WHEN (
            TRY_CAST(c5 AS DECIMAL(12, 2)) > 10.00
          ) THEN c5 END AS r0,
          CASE WHEN (
            TRY_CAST(c5 AS DECIMAL(12, 2)) > 10.00
          ) THEN c5 END AS r1,
          c5 AS r2
        FROM (
          SELECT
            t."cost" AS c5,
            t."ward" AS c6,
            t."patient_id" AS c7
          FROM "visits" AS t
          WHERE
            NOT t."patient_id" IS NULL
        ) AS t
        JOIN "domain 0" AS d0
          ON c6 IS NOT DISTINCT FROM d0.k0
      ) AS t
      GROUP BY
        u,
        g0,
        r0
    ) AS t
    WHERE
      NOT r0 IS NULL
    QUALIFY
      ROW_NUMBER() OVER (PARTITION BY u, g0 ORDER BY HASH(u, r0, $1), r0) <= 3
  ) AS t
  GROUP BY
    g0
) AS d0
  ON t.g0 IS NOT DISTINCT FROM d0.g0
LEFT JOIN (
  SELECT
    g0,
    SUM(
      DISTINCT (
        CASE
          WHEN TRY_CAST(TRY_CAST(r1 AS DECIMAL(15, 2)) * 100. AS BIGINT) < 1000
          THEN 1000
          WHEN TRY_CAST(TRY_CAST(r1 AS DECIMAL(15, 2)) * 100. AS BIGINT) > 100000
          THEN 100000
          ELSE TRY_CAST(TRY_CAST(r1 AS DECIMAL(15, 2)) * 100. AS BIGINT)
        END
      ) - 50500
    ) AS s1
  FROM (
    SELECT
      *
    FROM (
      SELECT
        u,
        g0,
        r1
      FROM (
        SELECT
          c7 AS u,
          d0.cell AS g0,
          CASE WHEN (
            TRY_CAST(c5 AS DECIMAL(12, 2)) > 10.00
          ) THEN c5 END AS r0,
          CASE WHEN (
            TRY_CAST(c5 AS DECIMAL(12, 2)) > 10.00
          ) THEN c5 END AS r1,
          c5 AS r2
        FROM (
          SELECT
            t."cost" AS c5,
            t."ward" AS c6,
            t."patient_id" AS c7
          FROM "visits" AS t
          WHERE
            NOT t."patient_id" IS NULL
        ) AS t
        JOIN "domain 0" AS d0
          ON c6 IS NOT DISTINCT FROM d0.k0
      ) AS t
      GROUP BY
        u,
        g0,
        r1
    ) AS t
    WHERE
      NOT r1 IS NULL
    QUALIFY
      ROW_NUMBER() OVER (PARTITION BY u, g0 ORDER BY HASH(u, r1, $1), r1) <= 3
  ) AS t
  GROUP BY
    g0
) AS d1
  ON t.g0 IS NOT DISTINCT FROM d1.g0
LEFT JOIN (
  SELECT
    g0,
    SUM(
      DISTINCT CASE
        WHEN TRY_CAST(TRY_CAST(r2 AS DECIMAL(15, 2)) * 100. AS BIGINT) < 0
        THEN 0
        WHEN TRY_CAST(TRY_CAST(r2 AS DECIMAL(15, 2)) * 100. AS BIGINT) > 100000
        THEN 100000
        ELSE TRY_CAST(TRY_CAST(r2 AS DECIMAL(15, 2)) * 100. AS BIGINT)
      END
    ) AS s2
  FROM (
    SELECT
      *
    FROM (
      SELECT
        u,
        g0,
        r2
      FROM (
        SELECT
          c7 AS u,
          d0.cell AS g0,
          CASE WHEN (
            TRY_CAST(c5 AS DECIMAL(12, 2)) > 10.00
          ) THEN c5 END AS r0,
          CASE WHEN (
            TRY_CAST(c5 AS DECIMAL(12, 2)) > 10.00
          ) THEN c5 END AS r1,
          c5 AS r2
        FROM (
          SELECT
            t."cost" AS c5,
            t."ward" AS c6,
            t."patient_id" AS c7
          FROM "visits" AS t
          WHERE
            NOT t."patient_id" IS NULL
        ) AS t
        JOIN "domain 0" AS d0
          ON c6 IS NOT DISTINCT FROM d0.k0
      ) AS t
      GROUP BY
        u,
        g0,
        r2
    ) AS t
    WHERE
      NOT r2 IS NULL
    QUALIFY
      ROW_NUMBER() OVER (PARTITION BY u, g0 ORDER BY HASH(u, r2, $1), r2) <= 3
  ) AS t
  GROUP BY
    g0
) AS d2
  ON t.g0 IS NOT DISTINCT FROM d2.g0
