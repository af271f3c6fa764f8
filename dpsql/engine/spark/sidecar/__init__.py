"""The sidecar that `dpsql prepare` writes to a Spark catalog: rows, each with its unit.

| module  | what it does                                                              |
| ------- | ------------------------------------------------------------------------- |
| columns | the columns of its tables, by names that every catalog takes              |
| record  | what the sidecar was made of: its stamp, and which files its tables have  |
| reading | views of its tables, where these are what was written                     |
| writing | makes its tables anew, and the record last                                |

Why each unit stays bounded. A stored row is one that a scan of the table has: joined with the rows
that lead from it to a unit, by keys that nothing keeps. A table is stored only if each row leads to
one at most; but keys may come twice since. Each stored row names one unit, and what is counted
beside it are that unit's stored rows. Take one unit's rows from the tables, and from what was
stored, and no other stored row changes. So stored tables are like others whose rows name their unit
in a column, and have no key. As on PostgreSQL, their units are compared with those of all that they
are joined with.

A release relies on one thing more: on how a stored table is bucketed. Spark takes rows of one unit
for rows of one file, as the catalog says, and limits what each unit has within it. Were the catalog
wrong, a unit would be limited in each of several files. So a table is read only where the number
of its buckets, the column that they are by, and all of its files are those that were written, and
its files are compared again when the statement has ended.
"""
