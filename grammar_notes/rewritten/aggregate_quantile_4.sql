-- PerUnit
SELECT
  g0
FROM (
  SELECT
    g0
  FROM (
    SELECT
      g0
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
              u,
              k0_0,
              x0 AS p0,
              x1 AS p1
            FROM (
              SELECT
                c7 AS u,
                c6 AS k0_0,
                c10 AS x0,
                c10 AS x1
              FROM (
                SELECT
                  c2,
                  c6,
                  c8,
                  c10,
                  c7 AS c7
                FROM (
                  SELECT
                    t."patient_id" AS c2,
                    t."ward" AS c6,
                    t."patient_id" AS c7
                  FROM "visits" AS t
                  WHERE
                    NOT t."patient_id" IS NULL
                ) AS t0
                CROSS JOIN (
                  SELECT
                    t."patient_id" AS c8,
                    t."sex" AS c10,
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
WITH "rows of units" AS MATERIALIZED (
  SELECT
    u,
    g0,
    CASE WHEN p0 = 'F' THEN 0 WHEN p0 = 'M' THEN 1 END AS p
  FROM (
    SELECT
      u,
      g0,
      x0 AS p0,
      x1 AS p1
    FROM (
      SELECT
        c7 AS u,
        d0.cell AS g0,
        c10 AS x0,
        c10 AS x1
      FROM (
        SELECT
          c2,
          c6,
          c8,
          c10,
          c7 AS c7
        FROM (
          SELECT
            t."patient_id" AS c2,
            t."ward" AS c6,
            t."patient_id" AS c7
          FROM "visits" AS t
          WHERE
            NOT t."patient_id" IS NULL
        ) AS t0
        CROSS JOIN (
          SELECT
            t."patient_id" AS c8,
            t."sex" AS c10,
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
      JOIN "domain 0" AS d0
        ON c6 IS NOT DISTINCT FROM d0.k0
    ) AS t
  ) AS t
), "beyond limits" AS MATERIALIZED (
  SELECT
    *
  FROM (
    SELECT
      u,
      g0,
      COUNT(p) AS m
    FROM "rows of units"
    GROUP BY
      u,
      g0
  ) AS t
  WHERE
    m > 3
)
SELECT
  g0,
  p,
  SUM(n) AS n
FROM (
  SELECT
    g0,
    p,
    COUNT(*) AS n
  FROM (
    SELECT
      *
    FROM "rows of units" AS r
    WHERE
      NOT EXISTS(
        SELECT
          1
        FROM "beyond limits" AS b
        WHERE
          r.u IS NOT DISTINCT FROM b.u AND r.g0 IS NOT DISTINCT FROM b.g0
      )
      AND NOT p IS NULL
  ) AS t
  GROUP BY
    g0,
    p
  UNION ALL
  SELECT
    g0,
    p,
    (
      c * 3 + CAST(HASH(u, g0, $1) & 1073741823 AS INT) % m
    ) // m - (
      (
        c - n
      ) * 3 + CAST(HASH(u, g0, $1) & 1073741823 AS INT) % m
    ) // m AS n
  FROM (
    SELECT
      *,
      SUM(n) OVER (PARTITION BY u, g0 ORDER BY HASH(u, p, $1), p) AS c
    FROM (
      SELECT
        r.u,
        r.g0,
        r.p,
        b.m,
        COUNT(*) AS n
      FROM "rows of units" AS r
      JOIN "beyond limits" AS b
        ON r.u IS NOT DISTINCT FROM b.u AND r.g0 IS NOT DISTINCT FROM b.g0
      WHERE
        NOT r.p IS NULL
      GROUP BY
        r.u,
        r.g0,
        r.p,
        b.m
    ) AS t
  ) AS t
) AS t
GROUP BY
  g0,
  p
WITH "rows of units" AS MATERIALIZED (
  SELECT
    u,
    g0,
    CASE WHEN p1 = 'F' THEN 0 WHEN p1 = 'M' THEN 1 END AS p
  FROM (
    SELECT
      u,
      g0,
      x0 AS p0,
      x1 AS p1
    FROM (
      SELECT
        c7 AS u,
        d0.cell AS g0,
        c10 AS x0,
        c10 AS x1
      FROM (
        SELECT
          c2,
          c6,
          c8,
          c10,
          c7 AS c7
        FROM (
          SELECT
            t."patient_id" AS c2,
            t."ward" AS c6,
            t."patient_id" AS c7
          FROM "visits" AS t
          WHERE
            NOT t."patient_id" IS NULL
        ) AS t0
        CROSS JOIN (
          SELECT
            t."patient_id" AS c8,
            t."sex" AS c10,
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
      JOIN "domain 0" AS d0
        ON c6 IS NOT DISTINCT FROM d0.k0
    ) AS t
  ) AS t
), "beyond limits" AS MATERIALIZED (
  SELECT
    *
  FROM (
    SELECT
      u,
      g0,
      COUNT(p) AS m
    FROM "rows of units"
    GROUP BY
      u,
      g0
  ) AS t
  WHERE
    m > 3
)
SELECT
  g0,
  p,
  SUM(n) AS n
FROM (
  SELECT
    g0,
    p,
    COUNT(*) AS n
  FROM (
    SELECT
      *
    FROM "rows of units" AS r
    WHERE
      NOT EXISTS(
        SELECT
          1
        FROM "beyond limits" AS b
        WHERE
          r.u IS NOT DISTINCT FROM b.u AND r.g0 IS NOT DISTINCT FROM b.g0
      )
      AND NOT p IS NULL
  ) AS t
  GROUP BY
    g0,
    p
  UNION ALL
  SELECT
    g0,
    p,
    (
      c * 3 + CAST(HASH(u, g0, $1) & 1073741823 AS INT) % m
    ) // m - (
      (
        c - n
      ) * 3 + CAST(HASH(u, g0, $1) & 1073741823 AS INT) % m
    ) // m AS n
  FROM (
    SELECT
      *,
      SUM(n) OVER (PARTITION BY u, g0 ORDER BY HASH(u, p, $1), p) AS c
    FROM (
      SELECT
        r.u,
        r.g0,
        r.p,
        b.m,
        COUNT(*) AS n
      FROM "rows of units" AS r
      JOIN "beyond limits" AS b
        ON r.u IS NOT DISTINCT FROM b.u AND r.g0 IS NOT DISTINCT FROM b.g0
      WHERE
        NOT r.p IS NULL
      GROUP BY
        r.u,
        r.g0,
        r.p,
        b.m
    ) AS t
  ) AS t
) AS t
GROUP BY
  g0,
  p
