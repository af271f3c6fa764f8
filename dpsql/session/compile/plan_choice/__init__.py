"""Plans that answer the same by other mechanisms, taken where they have less error.

| module       | what it does                                                    |
| ------------ | --------------------------------------------------------------- |
| frequent_key | the most frequent keys, chosen without their counts             |
| alert_counts | alerts whose counts are released, and compared                  |
| counted_keys | unlisted keys, chosen by rows that are counted beside them      |
"""
