{# Fails unless at least `part` of the rows have `column_name` above `error`, the ± of its noise:
   a release whose groups may all be empty tells nothing. #}
{% test dp_noisy(model, column_name, error, part=0.5) %}
SELECT told FROM (
  SELECT count(*) FILTER (WHERE abs({{ column_name }}) > {{ error }}) AS told, count(*) AS every
  FROM {{ model.identifier }}
) AS counted
WHERE told < {{ part }} * every
{% endtest %}
