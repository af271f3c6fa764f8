"""`dpsql audit`: attempts to break the privacy guarantee, for owners and reviewers.

| module             | what it does                                                  |
| ------------------ | ------------------------------------------------------------- |
| commands           | the commands and their options                                |
| sensitivity_text   | prints the report of an enumeration of neighbouring databases |
| sensitivity_curves | changes against distance or size, as tables and pictures      |
| epsilon_text       | prints a lower bound of the loss                              |
| attack_text        | prints the success rates of attacks                           |
| html_page          | the success rates of attacks, as one HTML page                |
| public_rows        | the rows of a public table that the owner names               |
| sampling_text      | prints a sampled sensitivity, with its warning                |
| output_format      | a report as text or JSON                                      |
| database_text      | two neighbouring databases, as people read them               |

Nothing here reads a ledger or a private row: databases are generated from the schema's domains, or,
where the owner names one, from the rows of a public table.
"""
