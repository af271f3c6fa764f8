-- PerUnit
SELECT
  COALESCE(d0.s0, 0) AS s0
FROM (
  SELECT
    COALESCE(SUM(s0), 0) AS s0
  FROM (
    SELECT
      3 AS s0
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
              c5 AS u,
              c1 AS r0
            FROM (
              SELECT
                c1,
                c2,
                c5,
                TRUE AS c15,
                FALSE AS c22
              FROM (
                SELECT
                  t."shipment" AS c1,
                  t."place" AS c2,
                  t."buyer" AS c5
                FROM "boxes" AS t
                WHERE
                  NOT t."buyer" IS NULL
              ) AS t0
              WHERE
                EXISTS(
                  SELECT
                    1
                  FROM (
                    SELECT
                      c7 AS c13,
                      c8 AS c14,
                      c11
                    FROM (
                      SELECT
                        t."shipment" AS c7,
                        t."place" AS c8,
                        t."buyer" AS c11
                      FROM "boxes" AS t
                      WHERE
                        NOT t."buyer" IS NULL
                    ) AS t
                  ) AS t1
                  WHERE
                    (
                      c13 = c1
                    ) AND (
                      c14 <> c2
                    ) AND c5 = c11
                )
                AND NOT EXISTS(
                  SELECT
                    1
                  FROM (
                    SELECT
                      c16 AS c21,
                      c19
                    FROM (
                      SELECT
                        t."shipment" AS c16,
                        p0."buyer" AS c19
                      FROM "damages" AS t
                      JOIN "boxes" AS p0
                        ON t."shipment" = p0."shipment" AND t."place" = p0."place"
                      WHERE
                        NOT p0."buyer" IS NULL
                    ) AS t
                  ) AS t1
                  WHERE
                    (
                      c21 = c1
                    ) AND c5 = c19
                )
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
    COUNT(DISTINCT r0) AS s0
  FROM (
    SELECT
      *
    FROM (
      SELECT
        u,
        r0
      FROM (
        SELECT
          c5 AS u,
          c1 AS r0
        FROM (
          SELECT
            c1,
            c2,
            c5,
            TRUE AS c15,
            FALSE AS c22
          FROM (
            SELECT
              t."shipment" AS c1,
              t."place" AS c2,
              t."buyer" AS c5
            FROM "boxes" AS t
            WHERE
              NOT t."buyer" IS NULL
          ) AS t0
          WHERE
            EXISTS(
              SELECT
                1
              FROM (
                SELECT
                  c7 AS c13,
                  c8 AS c14,
                  c11
                FROM (
                  SELECT
                    t."shipment" AS c7,
                    t."place" AS c8,
                    t."buyer" AS c11
                  FROM "boxes" AS t
                  WHERE
                    NOT t."buyer" IS NULL
                ) AS t
              ) AS t1
              WHERE
                (
                  c13 = c1
                ) AND (
                  c14 <> c2
                ) AND c5 = c11
            )
            AND NOT EXISTS(
              SELECT
                1
              FROM (
                SELECT
                  c16 AS c21,
                  c19
                FROM (
                  SELECT
                    t."shipment" AS c16,
                    p0."buyer" AS c19
                  FROM "damages" AS t
                  JOIN "boxes" AS p0
                    ON t."shipment" = p0."shipment" AND t."place" = p0."place"
                  WHERE
                    NOT p0."buyer" IS NULL
                ) AS t
              ) AS t1
              WHERE
                (
                  c21 = c1
                ) AND c5 = c19
            )
        ) AS t
      ) AS t
      GROUP BY
        u,
        r0
    ) AS t
    WHERE
      NOT r0 IS NULL
    QUALIFY
      ROW_NUMBER() OVER (PARTITION BY u ORDER BY HASH(u, r0, $1), r0) <= 3
  ) AS t
) AS d0
  ON TRUE
