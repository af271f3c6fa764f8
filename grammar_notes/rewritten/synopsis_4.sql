-- PerUnit
SELECT
  g0,
  g1,
  g2,
  g3,
  g4,
  g5,
  COALESCE(SUM(s0), 0) AS s0
FROM (
  WITH kept AS MATERIALIZED (
    SELECT
      *
    FROM (
      SELECT
        u,
        g0,
        g1,
        g2,
        g3,
        g4,
        g5,
        s0 AS s0
      FROM (
        SELECT
          u,
          g0,
          g1,
          g2,
          g3,
          g4,
          g5,
          CAST(CASE WHEN n > 3 THEN 3 ELSE n END AS INT) AS s0
        FROM (
          SELECT
            u,
            g0,
            g1,
            g2,
            g3,
            g4,
            g5,
            n
          FROM (
            SELECT
              t.g0,
              d1.cell AS g1,
              d2.cell AS g2,
              d3.cell AS g3,
              d4.cell AS g4,
              d5.cell AS g5,
              t.u,
              t.n
            FROM (
              SELECT
                u,
                g0,
                k1_0,
                k2_0,
                k3_0,
                k4_0,
                k5_0,
                COUNT(*) AS n
              FROM (
                SELECT
                  c7 AS u,
                  d0.cell AS g0,
                  c6 AS k1_0,
                  LIST_EXTRACT(
                    LIST_TRANSFORM([{'c9': c9}], LAMBDA r : TRY((
                      TRY(STRUCT_EXTRACT(r, 'c9')) // 10
                    ))),
                    1
                  ) AS k2_0,
                  c10 AS k3_0,
                  c12 AS k4_0,
                  (
                    TRY_CAST(c5 AS DECIMAL(12, 2)) > 100.00
                  ) AS k5_0
                FROM (
                  SELECT
                    c2,
                    c4,
                    c5,
                    c6,
                    c8,
                    c9,
                    c10,
                    c12,
                    c7 AS c7
                  FROM (
                    SELECT
                      t."patient_id" AS c2,
                      t."visit_date" AS c4,
                      t."cost" AS c5,
                      t."ward" AS c6,
                      t."patient_id" AS c7
                    FROM "visits" AS t
                    WHERE
                      NOT t."patient_id" IS NULL
                  ) AS t0
                  CROSS JOIN (
                    SELECT
                      t."patient_id" AS c8,
                      t."age" AS c9,
                      t."sex" AS c10,
                      t."insured" AS c12,
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
                  ON MONTH(c4) IS NOT DISTINCT FROM d0.k0
                  AND LIST_EXTRACT(
                    LIST_TRANSFORM([{'c4': c4}], LAMBDA r : TRY(DAYOFWEEK(TRY(STRUCT_EXTRACT(r, 'c4'))))),
                    1
                  ) IS NOT DISTINCT FROM d0.k1
              ) AS t
              GROUP BY
                u,
                g0,
                k1_0,
                k2_0,
                k3_0,
                k4_0,
                k5_0
            ) AS t
            JOIN "domain 1" AS d1
              ON t.k1_0 IS NOT DISTINCT FROM d1.k0
            JOIN "domain 2" AS d2
              ON t.k2_0 IS NOT DISTINCT FROM d2.k0
            JOIN "domain 3" AS d3
              ON t.k3_0 IS NOT DISTINCT FROM d3.k0
            JOIN "domain 4" AS d4
              ON t.k4_0 IS NOT DISTINCT FROM d4.k0
            JOIN "domain 5" AS d5
              ON t.k5_0 IS NOT DISTINCT FROM d5.k0
          ) AS t
        ) AS t
      ) AS t
    ) AS t
    QUALIFY
      ROW_NUMBER() OVER (
        PARTITION BY u
        ORDER BY HASH(u, g0, g1, g2, g3, g4, g5, $1), g0, g1, g2, g3, g4, g5
      ) <= 5
  )
  SELECT
    *
  FROM (
    SELECT
      g0,
      g1,
      g2,
      g3,
      g4,
      g5,
      s0
    FROM kept
    UNION ALL
    SELECT
      g0,
      g1,
      g2,
      g3,
      g4,
      g5,
      k - s0 AS s0
    FROM (
      SELECT
        *,
        CAST((
          (
            CAST(mc AS INT128) * 10 + m
          ) // (
            2 * m
          ) - (
            CAST((
              mc - s0
            ) AS INT128) * 10 + m
          ) // (
            2 * m
          )
        ) AS INT) AS k
      FROM (
        SELECT
          *,
          SUM(s0) OVER (
            PARTITION BY u
            ORDER BY HASH(u, g0, g1, g2, g3, g4, g5, $1), g0, g1, g2, g3, g4, g5
          ) AS mc
        FROM kept
        JOIN (
          SELECT
            u AS mu,
            SUM(s0) AS m
          FROM kept
          GROUP BY
            u
          HAVING
            SUM(s0) > 5
        ) AS t
          ON u = mu
      ) AS t
    ) AS t
  ) AS t
) AS t
GROUP BY
  g0,
  g1,
  g2,
  g3,
  g4,
  g5
