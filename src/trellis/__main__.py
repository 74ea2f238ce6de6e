"""`python -m trellis`."""

from trellis.cli.app import main

main()
