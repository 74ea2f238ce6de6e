"""Tsuboi, Unno, Kashima & Okazaki (2011), "Fast Newton-CG Method for Batch Learning of Conditional Random Fields": its
experiments (Figure 2, Tables 1 and 2) once more, and what comes of its claims."""
