"""The server's state as its operator sees it: metrics, health, errors.

| module          | what it does                                              |
| --------------- | --------------------------------------------------------- |
| error_log       | errors as the operator reads them                         |
| health_endpoint | serves the metrics by HTTP                                |
| metrics         | counts and gauges in Prometheus's format, without data    |
"""
