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
            x0 AS p0
          FROM (
            SELECT
              c7 AS u,
              c6 AS x0
            FROM (
              SELECT
                t."ward" AS c6,
                t."patient_id" AS c7
              FROM "visits" AS t
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
SELECT
  p,
  SUM(CASE WHEN n > 3 THEN 3 ELSE n END) AS n
FROM (
  SELECT
    u,
    p,
    COUNT(*) AS n
  FROM (
    SELECT
      *
    FROM (
      SELECT
        u,
        CASE
          WHEN p0 = 'ER'
          THEN 0
          WHEN p0 = 'ICU'
          THEN 1
          WHEN p0 = 'GP'
          THEN 2
          WHEN p0 IS NULL
          THEN 3
        END AS p
      FROM (
        SELECT
          u,
          x0 AS p0
        FROM (
          SELECT
            c7 AS u,
            c6 AS x0
          FROM (
            SELECT
              t."ward" AS c6,
              t."patient_id" AS c7
            FROM "visits" AS t
            WHERE
              NOT t."patient_id" IS NULL
          ) AS t
        ) AS t
      ) AS t
    ) AS t
    WHERE
      NOT p IS NULL
  ) AS t
  GROUP BY
    u,
    p
) AS t
GROUP BY
  p
