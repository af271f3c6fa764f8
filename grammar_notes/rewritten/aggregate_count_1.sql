-- PerUnit
SELECT
  COALESCE(d0.s0, 0) AS s0,
  COALESCE(d1.s1, 0) AS s1
FROM (
  SELECT
    COALESCE(SUM(s0), 0) AS s0,
    COALESCE(SUM(s1), 0) AS s1
  FROM (
    SELECT
      2 AS s0,
      6 AS s1
    FROM (
      SELECT
        1 AS s0,
        1 AS s1
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
              c3 AS r0,
              c4 AS r1
            FROM (
              SELECT
                t."kind" AS c3,
                t."score" AS c4,
                p0."patient_id" AS c5
              FROM "tests" AS t
              JOIN "visits" AS p0
                ON t."visit_id" = p0."visit_id"
              WHERE
                NOT p0."patient_id" IS NULL
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
          c3 AS r0,
          c4 AS r1
        FROM (
          SELECT
            t."kind" AS c3,
            t."score" AS c4,
            p0."patient_id" AS c5
          FROM "tests" AS t
          JOIN "visits" AS p0
            ON t."visit_id" = p0."visit_id"
          WHERE
            NOT p0."patient_id" IS NULL
        ) AS t
      ) AS t
      GROUP BY
        u,
        r0
    ) AS t
    WHERE
      NOT r0 IS NULL
    QUALIFY
      ROW_NUMBER() OVER (PARTITION BY u ORDER BY HASH(u, r0, $1), r0) <= 2
  ) AS t
) AS d0
  ON TRUE
LEFT JOIN (
  SELECT
    COUNT(DISTINCT r1) AS s1
  FROM (
    SELECT
      *
    FROM (
      SELECT
        u,
        r1
      FROM (
        SELECT
          c5 AS u,
          c3 AS r0,
          c4 AS r1
        FROM (
          SELECT
            t."kind" AS c3,
            t."score" AS c4,
            p0."patient_id" AS c5
          FROM "tests" AS t
          JOIN "visits" AS p0
            ON t."visit_id" = p0."visit_id"
          WHERE
            NOT p0."patient_id" IS NULL
        ) AS t
      ) AS t
      GROUP BY
        u,
        r1
    ) AS t
    WHERE
      NOT r1 IS NULL
    QUALIFY
      ROW_NUMBER() OVER (PARTITION BY u ORDER BY HASH(u, r1, $1), r1) <= 6
  ) AS t
) AS d1
  ON TRUE
