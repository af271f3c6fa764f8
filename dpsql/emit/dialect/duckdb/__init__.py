"""DuckDB: its nodes for what neutral nodes mean, and its text.

| module          | what it does                                                        |
| --------------- | ------------------------------------------------------------------- |
| lower           | DuckDB's nodes for neutral ones                                     |
| cell_number     | the cells of keys by comparisons, without a join                    |
| expression      | scalar expressions in total form: nothing on private rows can raise |
| function_call   | scalar functions in total form                                      |
| time_zone       | conversions between time zones, by the rules of these               |
| literal         | constants, without a cast where they stand beside their type        |
| parameter       | a generic plan's constants, as they are written                     |
| steps           | values and sums as integers of steps                                |
| decimal_steps   | decimals without their point, exactly                               |
| aggregate       | exact aggregates and window functions                               |
| attempt         | what may raise where rows are joined: of copies, or in wider types  |
| frame           | frames of windows, whose ends may be beyond what a key can be       |
| total_aggregate | those of released rows where DuckDB's own raise                     |
| render          | a tree as text                                                      |
"""
