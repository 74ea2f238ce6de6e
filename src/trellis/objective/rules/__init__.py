"""One file an update rule: its numbers, and the compiled pass that it runs."""
