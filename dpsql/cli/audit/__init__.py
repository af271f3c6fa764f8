"""`dpsql audit`: what was tried against the promise, for owners and reviewers.

| module           | what it does                                               |
| ---------------- | ---------------------------------------------------------- |
| commands         | the commands and their options                             |
| sensitivity_text | prints what an enumeration found                           |
| epsilon_text     | prints what an audit of the loss found                     |
| attack_text      | prints what attacks achieved                               |
| html_page        | what attacks achieved, as one HTML page                    |
| sampling_text    | prints what sensitivity sampling says, and what it doesn't |
| output_format    | what was found as text or JSON                             |
| database_text    | two neighbouring databases, as people read them            |

Nothing here reads a source or a ledger: databases are made of the schema's domains.
"""
