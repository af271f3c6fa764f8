-- CountUnitsFirst
WITH counted AS MATERIALIZED (
  SELECT
    c15 AS u,
    d0.cell AS g0
  FROM (
    SELECT
      c16 AS c19,
      c15
    FROM (
      SELECT
        c1 AS c17,
        COUNT(c8) AS c16,
        c15
      FROM (
        SELECT
          c1,
          c8,
          c9,
          c13,
          c7 AS c15
        FROM (
          SELECT
            t."patient_id" AS c1,
            t."patient_id" AS c7
          FROM "patients" AS t
          WHERE
            NOT t."patient_id" IS NULL
        ) AS t0
        LEFT JOIN (
          SELECT
            t."visit_id" AS c8,
            t."patient_id" AS c9,
            t."ward" AS c13,
            t."patient_id" AS c14
          FROM "visits" AS t
          WHERE
            NOT t."patient_id" IS NULL
        ) AS t1
          ON (
            c1 = c9
          ) AND (
            c13 <> 'GP'
          ) AND c7 = c14
      ) AS t
      GROUP BY
        c1,
        c15
    ) AS t
  ) AS t
  JOIN "domain 0" AS d0
    ON c19 = d0.k0
), many AS MATERIALIZED (
  SELECT
    u AS mu
  FROM counted
  GROUP BY
    u
  HAVING
    COUNT(*) > 1
)
SELECT
  g0,
  COALESCE(SUM(TRY(s0)), 0) AS s0
FROM (
  SELECT
    *
  FROM (
    SELECT
      g0,
      s0
    FROM (
      SELECT
        *
      FROM (
        SELECT
          *,
          ROW_NUMBER() OVER (PARTITION BY u ORDER BY CAST(g0 AS INT)) AS turn,
          COUNT(*) OVER (PARTITION BY u) AS turns
        FROM (
          SELECT
            u,
            g0,
            s0 AS s0
          FROM (
            SELECT
              u,
              g0,
              CAST(CASE WHEN n > 1 THEN 1 ELSE n END AS INT) AS s0
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
                    *
                  FROM counted
                  WHERE
                    u IN (
                      SELECT
                        mu
                      FROM many
                    )
                ) AS t
                GROUP BY
                  u,
                  g0
              ) AS t
            ) AS t
          ) AS t
        ) AS t
      ) AS t
      WHERE
        (
          turn - 1 + (
            turns - CAST(HASH(u, $1) & 1073741823 AS INT) % turns
          )
        ) % turns < 1
    ) AS t
    UNION ALL
    SELECT
      g0,
      s0 AS s0
    FROM (
      SELECT
        g0,
        COUNT(*) AS s0
      FROM (
        SELECT
          *
        FROM counted
        WHERE
          NOT u IN (
            SELECT
              mu
            FROM many
          )
      ) AS t
      GROUP BY
        g0
    ) AS t
  ) AS t
) AS t
GROUP BY
  g0
