#!/usr/bin/env bash
# psql: unaligned, parameters put into the text, and what its backslash commands print.
set -u
export PGHOST="$1" PGPORT="$2" PGUSER="$3" PGDATABASE="$4" PGSSLMODE=disable PAGER=cat PGOPTIONS=
{
  printf '%s\n' '\set QUIET on' "\\pset null '\\\\\\\\N'" '\pset format unaligned' '\pset footer off'
  while IFS= read -r line; do
    IFS=$'\t' read -r -a words <<<"$line"
    sql="${words[1]}"
    for ((n = 2; n < ${#words[@]}; n++)); do
      text="${words[n]:2}"
      [ "${words[n]:0:1}" != t ] || text="'${text//\'/\'\'}'"
      sql="${sql//\$$((n - 1))/$text}"
    done
    printf '%s\n' "\\echo '== ${words[0]//\'/}'" "$sql;" '\if :ERROR' '\echo !! :SQLSTATE' '\endif'
  done
  for own in '\d regions' '\d orders' '\d t' '\d+ regions' '\dt' '\dn' '\di' '\df' '\dv' '\dT' \
    '\du alice' '\dA' '\encoding' '\dRp' '\des' '\dm' '\ds' '\dE'; do
    printf '%s\n' "\\echo '== own: ${own//\\/}'" "$own"
  done
} | psql -X -q -f - 2>/dev/null
