"""The PostgreSQL v3 protocol without sockets: bytes in, messages out, and the other way round.

| module            | what it does                                                          |
| ----------------- | --------------------------------------------------------------------- |
| frame             | bytes → frames, within limits of size                                 |
| frontend_messages | frames → what a client says, as frozen data                           |
| backend_messages  | what the server says → bytes                                          |
| state_machine     | which message may come when: phases, and a table of transitions       |
| scram             | SCRAM-SHA-256: stored verifiers, and the server's half of an exchange |
| violation         | a client that doesn't speak the protocol                              |
"""
