"""Where SQL runs that analysts wrote, over public rows alone.

| module                  | what it does                                                    |
| ----------------------- | --------------------------------------------------------------- |
| database                | copies of what is nobody's secret, for text that analysts wrote |
| process                 | a process in which such text runs, and which can be ended       |
| introspection_functions | functions that tell of the engine or the host, by its own list  |
"""
