"""The command line: shells over the library."""
