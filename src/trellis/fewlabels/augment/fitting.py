"""Whether labels, methods and a table go together: said before sentences are changed."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence

from trellis.corpus import Corpus
from trellis.errors import SettingError, shown
from trellis.fewlabels.augment.contract import Method, Source, Table, of_file, some_of
from trellis.labels import detect, illegal

_LEVEL = 3  # warnings are of the line that calls `augmented`


def names_of(methods: object, known: Iterable[str]) -> list[str]:
    """One name or several, as a list without spaces."""
    names = [methods] if isinstance(methods, str) else methods
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise SettingError(
            f"methods is {shown(methods)}; expected a method's name or a list of them: {', '.join(known)}"
        )
    if not names:
        raise SettingError(f"no method of augmentation; there are: {', '.join(known)}")
    for name in names:
        if "," in name:
            both = "+".join(each.strip() for each in name.split(","))
            raise SettingError(
                f"'{name}' is no method of augmentation; {both} changes by one and then by the next, a list (--method "
                "several times) makes copies by each"
            )
    return ["+".join(each.strip() for each in name.split("+")) for name in names]


def check_table(table: object) -> None:
    """SettingError for what is none."""
    if table is None:
        return
    if not isinstance(table, Mapping):
        raise SettingError(f"the table is {shown(table)}; expected a dict of words (or types) and lists of texts")
    for name, entries in table.items():
        right = isinstance(entries, Sequence) and not isinstance(entries, str)
        if (
            not isinstance(name, str)
            or not right
            or not all(isinstance(each, str) and each.split() for each in entries)
        ):
            raise SettingError(f"the table has {shown(entries)} for {shown(name)}; expected a list of texts with words")


def check_use(source: Source, table: Table, methods: Mapping[str, Method]) -> None:
    """Of a table, by all methods that were named. Words may be in it that no text has; types hardly."""
    readers = [method for method in methods.values() if method.check is not None]
    if not readers:
        raise SettingError(f"a table is for mentions and synonyms, not for {', '.join(methods)}; leave it out")
    left_out, refused = [], []
    for method in readers:
        try:
            left_out.append(set(method.check(source, table) if method.check is not None else ()))
        except SettingError as error:
            refused.append(error)
    if not left_out:  # no method can use it
        raise refused[0]
    idle = set.intersection(*left_out)
    if idle:
        warnings.warn(
            f"{of_file(table)}mentions of types that the labels of '{source.target}' have not are left out: "
            f"{some_of(sorted(idle))}",
            stacklevel=_LEVEL,
        )


def encoding_of(corpus: Corpus, target: str, encoding: str | None) -> str | None:
    """The encoding that the labels are of: that which is named, or that which is detected; None where they spell no
    segments. An error where another one fits them better than the one named, a warning where none fits them all."""
    source = Source(corpus, target, encoding)
    if encoding is None and not source.has_segments:
        return None
    spelt, labels = source.spelt, source.labels.compact()
    wrong = illegal(labels.strings, labels.ids, corpus.offsets, spelt)
    if not len(wrong):
        return spelt
    first = f"{labels.strings[labels.ids[wrong[0]]]!r} at {corpus.place(int(wrong[0]))}"
    found = detect(labels.strings, labels.ids, corpus.offsets)
    if found not in (None, spelt) and illegal(labels.strings, labels.ids, corpus.offsets, str(found)).size < wrong.size:
        raise SettingError(
            f"the labels of '{target}' are not {spelt}: {first} may not stand there. They look like {found}; leave the "
            "encoding out (`trellis data convert` changes encodings)"
        )
    warnings.warn(
        f"labels of '{target}' are ill-formed in {spelt}, the first is {first}; copies have them as conlleval reads "
        "them. See `trellis data check`; `trellis data convert` mends them",
        stacklevel=_LEVEL,
    )
    return spelt


def no_longer_well_formed(corpus: Corpus, more: Corpus, target: str) -> list[str]:
    """Other columns that spell segments in a corpus, but not in all that `augmented` made of it."""
    out = []
    for name in corpus.columns:
        before, after = corpus[name].compact(), more[name].compact()
        encoding = None if name == target else detect(before.strings, before.ids, corpus.offsets)
        if encoding is None or illegal(before.strings, before.ids, corpus.offsets, encoding).size:
            continue
        if illegal(after.strings, after.ids, more.offsets, encoding).size:
            out.append(name)
    return out
