{# Answers a model's SELECT once, and keeps the answer under the model's name, free to read. #}
{% materialization dp_release, adapter='postgres' %}
  {%- set target_relation = api.Relation.create(
      database=database, schema=schema, identifier=model['alias'], type='table') -%}
  {%- set epsilon = config.get('epsilon') -%}
  {% call statement('main', auto_begin=False) %}
    CREATE OR REPLACE RELEASE {{ model['alias'] }} AS {{ sql }}
    {%- if epsilon is not none %} OPTIONS (epsilon = {{ epsilon }}){% endif %}
  {% endcall %}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
