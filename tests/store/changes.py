"""Changes to what model files hold, by which damage is made that no digest gives away."""

from __future__ import annotations

from trellis.store import from_bytes, to_bytes


def changed(raw, change):
    description, tensors = from_bytes(raw)
    tensors = {name: values.copy() for name, values in tensors.items()}
    change(description, tensors)
    return to_bytes(description, tensors)


def setting(name, value, at=0):
    def change(_, tensors):
        tensors[name][at] = value

    return change


def replacing(name, make):
    def change(_, tensors):
        tensors[name] = make(tensors[name])

    return change


def put(*path, value):
    def change(description, _):
        for key in path[:-1]:
            description = description[key]
        description[path[-1]] = value

    return change


def without(*path):
    def change(description, _):
        for key in path[:-1]:
            description = description[key]
        del description[path[-1]]

    return change
