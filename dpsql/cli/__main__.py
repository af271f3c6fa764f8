"""`python -m dpsql.cli`: the same as `dpsql`."""

from dpsql.cli.main import main

main()
