"""The cells that rows lie in.

| module         | what it does                                             |
| -------------- | -------------------------------------------------------- |
| histogram_cell | the cell of a value, coordinate by coordinate            |
| month_cell     | the cell of a day's month, counted in place of looked up |
"""
