"""Compiled passes over the sentences of a shard, which change weights as they go."""
