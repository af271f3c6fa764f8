-- SumRows
SELECT
  COALESCE(
    TRY(
      CASE
        WHEN n > 1
        THEN (
          s0 // (
            n - 1
          )
        ) * 4 + (
          (
            s0 % (
              n - 1
            )
          ) * 4
        ) // (
          n - 1
        )
      END
    ),
    0
  ) AS s0
FROM (
  SELECT
    CASE
      WHEN COUNT(*) <= 68719476736
      THEN COUNT(*) * SUM(
        (
          (
            CASE WHEN r0 < 6 THEN 6 WHEN r0 > 10 THEN 10 ELSE r0 END
          ) - 8
        ) * (
          (
            CASE WHEN r0 < 6 THEN 6 WHEN r0 > 10 THEN 10 ELSE r0 END
          ) - 8
        )
      ) - SUM((
        (
          CASE WHEN r0 < 6 THEN 6 WHEN r0 > 10 THEN 10 ELSE r0 END
        ) - 8
      )) * SUM((
        (
          CASE WHEN r0 < 6 THEN 6 WHEN r0 > 10 THEN 10 ELSE r0 END
        ) - 8
      ))
    END AS s0,
    COUNT(*) AS n
  FROM (
    SELECT
      TRY_CAST(v0 AS BIGINT) AS r0
    FROM (
      SELECT
        c1 AS v0
      FROM (
        SELECT
          t."x" AS c1
        FROM "sized" AS t
      ) AS t
    ) AS t
  ) AS t
) AS t
