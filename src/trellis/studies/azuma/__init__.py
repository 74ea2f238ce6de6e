"""Multilayer sequence labeling (Azuma & Matsumoto 2011), once more."""
