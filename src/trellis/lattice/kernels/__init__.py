"""The compiled loops of the lattices, and nothing else."""
