"""Losses, and how they add up.

| module          | what it does                                                     |
| --------------- | ---------------------------------------------------------------- |
| loss            | what a measurement costs: ε, (ε, δ) or (ρ, δ)                    |
| zcdp_conversion | ρ to (ε, δ) and back, rounded against ourselves                  |
| pld_composition | what measurements that are fixed beforehand cost together        |
"""
