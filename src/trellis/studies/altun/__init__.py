"""Altun, Johnson & Hofmann (2003), "Investigating Loss Functions and Optimization Methods for Discriminative Learning
of Label Sequences": its experiments (Tables 1 to 3) once more, and what comes of its claims."""
