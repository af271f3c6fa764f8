"""`dpsql audit`: what was tried against the promise, for owners and reviewers.

| module      | what it does                                               |
| ----------- | ---------------------------------------------------------- |
| command     | the commands and their options                             |
| sensitivity | prints what an enumeration found                           |
| epsilon     | prints what an audit of the loss found                     |
| attack      | prints what attacks achieved                               |
| html_page   | what attacks achieved, as one HTML page                    |
| sampled     | prints what sensitivity sampling says, and what it doesn't |
| form        | what was found as text or JSON                             |
| databases   | two neighbouring databases, as people read them            |

Nothing here reads a source or a ledger: databases are made of the schema's domains.
"""
