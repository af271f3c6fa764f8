"""Processes that alone open the data: jobs in, released tables or one failure out.

| module  | what it does                                                            |
| ------- | ----------------------------------------------------------------------- |
| task    | what a worker is asked to do, and its replies as bytes                    |
| worker  | the process: opens sources, runs tasks, one at a time                     |
| keeper  | one worker seen from the server: its watchdog, and its replacement        |
| pool    | workers, handed out in the order in which they are asked for              |
| line    | statements that wait for their turn, in the order in which they came      |
| remote  | the engine that the pipeline sees, and its session                        |
"""
