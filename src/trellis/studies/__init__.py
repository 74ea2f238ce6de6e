"""What `trellis bench` runs: Trellis beside a peer, on the same data, features, objective and clock.

Nothing is imported here: the processes that measure the peer's memory must not hold NumPy or Numba.
"""
