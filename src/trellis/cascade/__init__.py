"""Cascades: stages, what upper ones read of lower ones, and all of them trained as one."""
