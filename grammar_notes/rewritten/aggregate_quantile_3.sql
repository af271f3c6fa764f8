-- PerUnit
SELECT
  g0,
  COALESCE(SUM(s0), 0) AS s0,
  COALESCE(SUM(s1), 0) AS s1
FROM (
  SELECT
    g0,
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
      g0,
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
        g0,
        n,
        COALESCE(s0, 0) AS s0,
        COALESCE(s1, 0) - CAST(m1 AS INT128) * 629145600 AS s1
      FROM (
        SELECT
          CAST(CASE
            WHEN n < 0
            THEN NULL
            WHEN k0_0 = FALSE
            THEN 0
            WHEN k0_0 = TRUE
            THEN 1
            WHEN k0_0 IS NULL
            THEN 2
          END AS BIGINT) AS g0,
          t.n,
          t.s0,
          t.s1,
          t.m1
        FROM (
          SELECT
            u,
            k0_0,
            COUNT(*) AS n,
            COUNT(r0) AS s0,
            SUM(CASE WHEN r1 < 0 THEN 0 WHEN r1 > 1258291200 THEN 1258291200 ELSE r1 END) AS s1,
            COUNT(r1) AS m1
          FROM (
            SELECT
              u,
              k0_0,
              v0 AS r0,
              TRY_CAST(CASE
                WHEN ISNAN(v1)
                THEN NULL
                WHEN v1 < CAST('0.0' AS DOUBLE)
                THEN CAST('0.0' AS DOUBLE)
                WHEN v1 > CAST('300.0' AS DOUBLE)
                THEN CAST('300.0' AS DOUBLE)
                ELSE v1
              END * CAST('4194304.0' AS DOUBLE) AS BIGINT) AS r1,
              TRY_CAST(CASE
                WHEN ISNAN(x0)
                THEN NULL
                WHEN x0 < CAST('0.0' AS DOUBLE)
                THEN CAST('0.0' AS DOUBLE)
                WHEN x0 > CAST('300.0' AS DOUBLE)
                THEN CAST('300.0' AS DOUBLE)
                ELSE x0
              END * CAST('4194304.0' AS DOUBLE) AS BIGINT) AS p0,
              x1 AS p1
            FROM (
              SELECT
                c7 AS u,
                c5 AS k0_0,
                CASE WHEN NOT c4 IS NULL AND NOT ISNAN(c4) THEN 1 END AS v0,
                c4 AS v1,
                c4 AS x0,
                c3 AS x1
              FROM (
                SELECT
                  t."sex" AS c3,
                  t."weight" AS c4,
                  t."insured" AS c5,
                  t."patient_id" AS c7
                FROM "patients" AS t
                WHERE
                  NOT t."patient_id" IS NULL
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
    (
      CASE WHEN p0 < 0 THEN 0 WHEN p0 > 1258291200 THEN 1258291200 ELSE p0 END
    ) // 307201 AS p
  FROM (
    SELECT
      u,
      g0,
      v0 AS r0,
      TRY_CAST(CASE
        WHEN ISNAN(v1)
        THEN NULL
        WHEN v1 < CAST('0.0' AS DOUBLE)
        THEN CAST('0.0' AS DOUBLE)
        WHEN v1 > CAST('300.0' AS DOUBLE)
        THEN CAST('300.0' AS DOUBLE)
        ELSE v1
      END * CAST('4194304.0' AS DOUBLE) AS BIGINT) AS r1,
      TRY_CAST(CASE
        WHEN ISNAN(x0)
        THEN NULL
        WHEN x0 < CAST('0.0' AS DOUBLE)
        THEN CAST('0.0' AS DOUBLE)
        WHEN x0 > CAST('300.0' AS DOUBLE)
        THEN CAST('300.0' AS DOUBLE)
        ELSE x0
      END * CAST('4194304.0' AS DOUBLE) AS BIGINT) AS p0,
      x1 AS p1
    FROM (
      SELECT
        c7 AS u,
        d0.cell AS g0,
        CASE WHEN NOT c4 IS NULL AND NOT ISNAN(c4) THEN 1 END AS v0,
        c4 AS v1,
        c4 AS x0,
        c3 AS x1
      FROM (
        SELECT
          t."sex" AS c3,
          t."weight" AS c4,
          t."insured" AS c5,
          t."patient_id" AS c7
        FROM "patients" AS t
        WHERE
          NOT t."patient_id" IS NULL
      ) AS t
      JOIN "domain 0" AS d0
        ON c5 IS NOT DISTINCT FROM d0.k0
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
    m > 1
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
      c * 1 + CAST(HASH(u, g0, $1) & 1073741823 AS INT) % m
    ) // m - (
      (
        c - n
      ) * 1 + CAST(HASH(u, g0, $1) & 1073741823 AS INT) % m
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
      v0 AS r0,
      TRY_CAST(CASE
        WHEN ISNAN(v1)
        THEN NULL
        WHEN v1 < CAST('0.0' AS DOUBLE)
        THEN CAST('0.0' AS DOUBLE)
        WHEN v1 > CAST('300.0' AS DOUBLE)
        THEN CAST('300.0' AS DOUBLE)
        ELSE v1
      END * CAST('4194304.0' AS DOUBLE) AS BIGINT) AS r1,
      TRY_CAST(CASE
        WHEN ISNAN(x0)
        THEN NULL
        WHEN x0 < CAST('0.0' AS DOUBLE)
        THEN CAST('0.0' AS DOUBLE)
        WHEN x0 > CAST('300.0' AS DOUBLE)
        THEN CAST('300.0' AS DOUBLE)
        ELSE x0
      END * CAST('4194304.0' AS DOUBLE) AS BIGINT) AS p0,
      x1 AS p1
    FROM (
      SELECT
        c7 AS u,
        d0.cell AS g0,
        CASE WHEN NOT c4 IS NULL AND NOT ISNAN(c4) THEN 1 END AS v0,
        c4 AS v1,
        c4 AS x0,
        c3 AS x1
      FROM (
        SELECT
          t."sex" AS c3,
          t."weight" AS c4,
          t."insured" AS c5,
          t."patient_id" AS c7
        FROM "patients" AS t
        WHERE
          NOT t."patient_id" IS NULL
      ) AS t
      JOIN "domain 0" AS d0
        ON c5 IS NOT DISTINCT FROM d0.k0
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
    m > 1
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
      c * 1 + CAST(HASH(u, g0, $1) & 1073741823 AS INT) % m
    ) // m - (
      (
        c - n
      ) * 1 + CAST(HASH(u, g0, $1) & 1073741823 AS INT) % m
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
