"""The page on performance: what `trellis bench` has measured, as tables and plots."""
