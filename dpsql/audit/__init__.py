"""Evidence that the promise holds, over synthetic databases: nothing here opens a source.

| module           | what it does                                            |
| ---------------- | ------------------------------------------------------- |
| databases        | synthetic databases, made of the schema's domains       |
| noise_likelihood | how far apart the laws of two noisy integers are        |
| sensitivity      | exhaustive neighbors: no change is larger than derived  |
| empirical        | lower bounds on ε and on sensitivities, from samples    |
| attacks          | known attacks, on answers of dpsql and on exact ones    |
"""
