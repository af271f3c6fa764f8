-- PerUnit
SELECT
FROM (
  SELECT
  FROM (
    SELECT
    FROM (
      SELECT
        n
      FROM (
        SELECT
          u,
          COUNT(*) AS n
        FROM (
          SELECT
            u,
            TRY_CAST(x0 AS BIGINT) AS p0
          FROM (
            SELECT
              c7 AS u,
              c2 AS x0
            FROM (
              SELECT
                t."age" AS c2,
                t."patient_id" AS c7
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
WITH "rows of units" AS MATERIALIZED (
  SELECT
    u,
    (
      CASE WHEN p0 < 0 THEN 0 WHEN p0 > 120 THEN 120 ELSE p0 END
    ) // 1 AS p
  FROM (
    SELECT
      u,
      TRY_CAST(x0 AS BIGINT) AS p0
    FROM (
      SELECT
        c7 AS u,
        c2 AS x0
      FROM (
        SELECT
          t."age" AS c2,
          t."patient_id" AS c7
        FROM "patients" AS t
        WHERE
          NOT t."patient_id" IS NULL
      ) AS t
    ) AS t
  ) AS t
), "beyond limits" AS MATERIALIZED (
  SELECT
    *
  FROM (
    SELECT
      u,
      COUNT(p) AS m
    FROM "rows of units"
    GROUP BY
      u
  ) AS t
  WHERE
    m > 1
)
SELECT
  p,
  SUM(n) AS n
FROM (
  SELECT
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
          r.u IS NOT DISTINCT FROM b.u
      )
      AND NOT p IS NULL
  ) AS t
  GROUP BY
    p
  UNION ALL
  SELECT
    p,
    (
      c * 1 + CAST(HASH(u, $1) & 1073741823 AS INT) % m
    ) // m - (
      (
        c - n
      ) * 1 + CAST(HASH(u, $1) & 1073741823 AS INT) % m
    ) // m AS n
  FROM (
    SELECT
      *,
      SUM(n) OVER (PARTITION BY u ORDER BY HASH(u, p, $1), p) AS c
    FROM (
      SELECT
        r.u,
        r.p,
        b.m,
        COUNT(*) AS n
      FROM "rows of units" AS r
      JOIN "beyond limits" AS b
        ON r.u IS NOT DISTINCT FROM b.u
      WHERE
        NOT r.p IS NULL
      GROUP BY
        r.u,
        r.p,
        b.m
    ) AS t
  ) AS t
) AS t
GROUP BY
  p
