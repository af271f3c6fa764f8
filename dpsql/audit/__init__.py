"""Evidence that the promise holds, over synthetic databases: nothing here opens a source.

| module      | what it does                                                              |
| ----------- | ------------------------------------------------------------------------- |
| owner       | whose the rows of a database are, walked without the planner              |
| pool        | values at a column's ends, just outside, and absurd ones                  |
| adversary   | random adversarial databases with all their neighbours                    |
| fact        | the public facts of such databases                                        |
| worlds      | many databases in one engine, asked all at once                           |
| change      | what changed between two, held to what was derived                        |
| candidate   | units that a database may hold, of the schema's domains                   |
| enumeration | all databases over a few units, and all their neighbours                  |
| universe    | the databases on which a statement is tried                               |
| engine      | one of them as an engine, for the job that answers queries                |
| draw        | answers drawn over and over, by a release's own mechanisms                |
| binomial    | exact intervals of how often something happened                           |
| epsilon     | a lower bound on the loss, by telling two databases apart                 |
| attack      | known attacks, against plain DuckDB and against dpsql                     |
| target      | what they are run against: the same people in both                        |
| reconstruction | everybody's secret from counts over random subsets                     |
| sampling    | sensitivity sampling, which is no privacy                                 |
| sensitivity | how much neighbours differ, beside what was derived                       |
"""
