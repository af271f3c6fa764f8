-- SumRows
SELECT
  g0,
  s0 AS s0,
  s1 AS s1,
  COALESCE(s2, 0) AS s2
FROM (
  SELECT
    g0,
    COUNT(*) AS s0,
    COUNT(r1) AS s1,
    SUM(
      CASE
        WHEN r2 < (
          -1073741824
        )
        THEN (
          -1073741824
        )
        WHEN r2 > 1073741824
        THEN 1073741824
        ELSE r2
      END
    ) AS s2
  FROM (
    SELECT
      g0,
      v1 AS r1,
      TRY_CAST(CASE
        WHEN ISNAN(v2)
        THEN NULL
        WHEN v2 < CAST('-1.0' AS DOUBLE)
        THEN CAST('-1.0' AS DOUBLE)
        WHEN v2 > CAST('1.0' AS DOUBLE)
        THEN CAST('1.0' AS DOUBLE)
        ELSE v2
      END * CAST('1073741824.0' AS DOUBLE) AS BIGINT) AS r2
    FROM (
      SELECT
        d0.cell AS g0,
        CASE WHEN NOT c2 IS NULL AND NOT ISNAN(c2) THEN 1 END AS v1,
        c2 AS v2
      FROM (
        SELECT
          t."sensor" AS c1,
          t."value" AS c2
        FROM "readings" AS t
      ) AS t
      JOIN "domain 0" AS d0
        ON c1 IS NOT DISTINCT FROM d0.k0
    ) AS t
  ) AS t
  GROUP BY
    g0
) AS t
