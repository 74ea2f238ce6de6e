"""Features of model files of the first format, in the terms of the present one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from trellis.features.notation import Place, parse_line
from trellis.features.template import CRFPP, WAPITI, Template, View
from trellis.store import Tensors, get_strings, put_strings


def read_templates(texts: Any, columns: Sequence[str]) -> tuple[Template, ...]:
    place = Place(columns, target="", path="")  # where they were written is not known any more
    templates = tuple(parse_line(text, place, 1, WAPITI if text[:1] in tuple("ub*") else CRFPP) for text in texts)
    if [template.text for template in templates] != texts or len(set(texts)) != len(texts):
        raise ValueError("templates")
    return templates


def from_version_1(tensors: Tensors, description: dict[str, Any]) -> dict[str, Any]:
    """Models of the first format: templates of %x alone, a vocabulary for each column, positions outside the sentence
    numbered behind it. The same numbers come out when their names are put at the end of the vocabulary."""
    if set(description) != {"kind", "templates", "columns", "ranks"}:
        raise ValueError("entries of the features")
    columns = [str(name) for name in description["columns"]]
    templates = read_templates(description["templates"], columns)
    # then templates that differ in their places only had attributes of their own, so now they need names of their own
    seen: Counter[tuple[str, ...]] = Counter()
    texts = []
    for template in templates:
        again = seen[template.literals]
        texts.append(f"{template.text[0]}({again}){template.text[1:]}" if again else template.text)
        seen[template.literals] += 1
    reach = max((abs(part.row) for template in templates for part in template.parts), default=0)
    # all are taken out before any is put back: a column may be called 0
    for d, strings in enumerate([get_strings(tensors, f"vocabulary.{name}") for name in columns]):
        outside = View("x", columns[d]).outside(reach)
        # a token called _B-1 was no position outside; no column file has one with a space behind it
        inside = [f"{string} " if string in outside else string for string in strings]
        put_strings(tensors, f"vocabulary.{d}", [*inside, *outside])
    tensors["label_keys"], tensors["label_key_counts"] = tensors.pop("keys"), tensors.pop("key_counts")
    ranks = []
    for k, j in description["ranks"]:
        tensors[f"ranks.label.{int(k)}.{int(j)}"] = tensors.pop(f"ranks.{k}.{j}")
        ranks.append(["label", int(k), int(j)])
    return {**description, "templates": texts, "ranks": ranks, "hash_size": None, "resources": [], "dictionary": None}
