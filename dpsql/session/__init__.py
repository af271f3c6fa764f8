"""The pipeline: bind, bound, emit, calibrate, charge, run, finish; the only place that composes it.

| module   | what it does                                                          |
| -------- | --------------------------------------------------------------------- |
| session  | one analyst's use of one dataset, the pipeline on one screen           |
| execution | runs what was prepared: on the source, and on released tables           |
| from_source | the same without a sidecar that is gone by then                   |
| parts    | how many parts of the units a release is found in                      |
| dataset  | a schema file with its views, checked as SQL too                       |
| account  | a schema's ledger; looser schemas are refused                         |
| new_ledger | a ledger that is made is told, and refused in another's home         |
| grant    | ε asked for → loss in the ledger's currency; the ledger's terms        |
| prepared | a statement bound, bounded, emitted and calibrated: all but run        |
| proving  | one statement, to be proved at some ε                                 |
| plans    | statements that were prepared before                                   |
| recall   | answers that were given before                                         |
| canonical | what a release means, however its query is written                   |
| codec    | plans, formulas and mechanisms as digests                              |
| tag      | what digests call classes, and which fields they have                  |
| cells    | the digest of a list of cells                                          |
| written  | a plan as it is written, where the order of rows follows from that    |
| deep     | room for deep statements                                              |
| ready    | the sidecar of a source: where it is, what it was made of, how it is made |
| whole    | statements over public tables alone, which run as they are written     |
| copies   | copies of public tables, for engines that have nothing else            |
| fact     | public facts, from verified keys and public tables                     |
| storage  | releases as the ledger has them: their charge, their tables as bytes   |
| rollup   | answers summed from the noisy cells of stored ones, on request        |
| target   | the error that will do, and the most that a statement may cost         |
| totals   | grouping sets that are made to add up                                |
| opaque   | what of a plan an analyst may read, decided once                      |
| made     | how released columns were made, how far noise moved an answer's values |
| kept     | tables that analysts keep, as one of them may read them               |
| about    | what is said of a kept table beside its rows                          |
| keeping  | CREATE RELEASE: an answer is kept under a name                        |
| answer   | what an analyst gets: a table, and what it cost                        |
| answering | a finished table becomes an answer                                   |
| trial    | what stands above the releases, tried on no rows before the charge     |
| draw     | charge, run, keep: one entry for all that is drawn together           |
| batch    | statements declared together, composed, and charged as one            |
| picking  | answers whose rows are released ones as they are, without an engine    |
| unit_rows | which rows have a privacy unit                                        |
| copied   | public tables that are read above the releases                         |
| sweep    | how far noise moves values at each of several ε                       |
| share    | how much of what is left a statement would take                       |
| provenance | which columns of an answer are released values as they are          |
| proof    | what EXPLAIN PRIVACY says, as data                                    |
| claim    | what a release's integers are, and how much of each units can change   |
| explain  | EXPLAIN PRIVACY, without touching private data                         |
| advice   | what would make a statement cheaper, or its noise smaller              |
"""
