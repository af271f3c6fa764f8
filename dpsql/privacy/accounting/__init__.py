"""Losses, and how they add up.

| module          | what it does                                                     |
| --------------- | ---------------------------------------------------------------- |
| loss            | what a measurement costs: ε, (ε, δ), (ρ, δ) or (μ², δ)           |
| zcdp_conversion | ρ to (ε, δ) and back, rounded against ourselves                  |
| gdp_conversion  | μ² to (ε, δ) and back, rounded against ourselves                 |
| pure_conversion | ε-DP, and a bounded range of losses, to μ² and back              |
| pld_composition | what measurements that are fixed beforehand cost together        |
"""
