"""One connection's settings.

| module           | what it does                                                |
| ---------------- | ----------------------------------------------------------- |
| session_settings | settings that a transaction may revert                      |
| setting_calls    | set_config() and current_setting() in a SELECT of their own |
| usual_settings   | what settings are at first                                  |
| time_zone        | names of time zones, and which of them are UTC              |
"""
