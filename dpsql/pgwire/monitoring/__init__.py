"""What the operator sees: metrics, health, errors.

| module          | what it does                                        |
| --------------- | --------------------------------------------------- |
| error_log       | errors as the operator reads them                   |
| health_endpoint | tells by HTTP whether the server is well            |
| metrics         | whether the server is well, in numbers without data |
"""
