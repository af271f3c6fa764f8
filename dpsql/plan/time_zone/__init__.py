"""Time zones: local time of a zone, which is UTC plus an offset that changes now and then.

| module     | what it holds                                                       |
| ---------- | ------------------------------------------------------------------- |
| zone_names | names of zones, and which of them are UTC                           |
| zone_rules | a zone's offsets, read from the time zone database of the machine   |
| zone_shift | the function from UTC to a zone's local time, and that back from it |
| conversion | convert_timezone(): which zones it takes, and its value             |
"""
