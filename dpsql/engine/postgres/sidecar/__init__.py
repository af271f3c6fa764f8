"""The sidecar that `dpsql prepare` writes to a PostgreSQL server: rows, each with its unit.

| module  | what it does                                                              |
| ------- | ------------------------------------------------------------------------- |
| record  | what the sidecar was made of: its stamp, and which tables it has          |
| reading | which of its tables can be read in a snapshot, as they are there then     |
| writing | makes its tables anew, in one transaction of their owner's                |

Why each unit stays bounded, whatever its owner lets change. A statement over the sidecar reads
stored rows as they were when they were stored, beside base tables as they are now. Both are of
units: a stored row was made of rows of one unit, by keys that the server's constraints kept in the
snapshot that it was made of, and what is counted beside it are that unit's rows alone. Take one
unit's rows from the server, and from what was stored, and no other row changes in either. So stored
tables are a part of the database like others, whose rows name their unit in a column, and what is
proved of such tables holds of them. Three rules keep it so:

- Where stored rows are joined with others, SQL asks that their units agree. That a row meets its
  owner by a key says nothing here: an order that was given to another customer after its lines were
  stored would bring the one's lines to the other, and either could change the other's sums.
- The declared key of a stored table is kept by an index of its own, which is looked for in each
  snapshot, as that of the base table is.
- Nobody has a right to write to the tables, not even their owner, who would have to take it first;
  and a table that was made anew, or whose rows were put into another file, isn't what the record
  names.

What the version says isn't among them: whoever changes tables under a version that stays gets
answers of old rows beside new ones, which are as private.
"""
