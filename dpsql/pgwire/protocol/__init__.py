"""The PostgreSQL v3 protocol without sockets: bytes in, messages out, and the other way round.

| module            | what it does                                                          |
| ----------------- | --------------------------------------------------------------------- |
| frame             | bytes → frames, within limits of size                                 |
| frontend_messages | frames → a client's messages, as frozen data                          |
| body_reader       | a message's body → its values                                         |
| backend_messages  | the server's messages → bytes                                         |
| state_machine     | which message may come when: phases, and a table of transitions       |
| turn              | messages of one statement that came together, answered in one turn    |
| scram             | SCRAM-SHA-256: stored verifiers, and the server's half of an exchange |
| violation         | the errors of a client that violates the protocol                     |
"""
