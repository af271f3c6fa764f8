"""What an answer is finished with above its releases, where an engine does it.

| module           | what it holds                                                       |
| ---------------- | ------------------------------------------------------------------- |
| finishing_text   | what stands above releases as SQL, written once for all analysts    |
| public_tables    | what of public tables is copied, and a plan that reads the copies   |
| row_bound        | how many rows it makes at most, by the rows of what it reads        |
| finishing_copies | their rows, kept for the next statement that asks                   |
"""
