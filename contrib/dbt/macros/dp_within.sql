{# The rows whose `column_name` lies outside [low, high] by more than `error`, the ± of its noise. #}
{% test dp_within(model, column_name, low, high, error) %}
SELECT {{ column_name }} FROM {{ model.identifier }}
WHERE {{ column_name }} < {{ low }} - {{ error }} OR {{ column_name }} > {{ high }} + {{ error }}
{% endtest %}
