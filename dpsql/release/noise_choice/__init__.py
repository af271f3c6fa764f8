"""The noise of a release's sums, by public facts: the ways there are, and how far off each is.

| module          | what it defines                                               |
| --------------- | ------------------------------------------------------------- |
| noise_candidate | the ways to add noise to sums within a loss                   |
| expected_error  | the error by which they are compared: what weighs how much    |
"""
