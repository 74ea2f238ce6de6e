"""Sections on other toolkits, each on what it does."""

from __future__ import annotations

from trellis.report.markdown import table
from trellis.studies.performance import texts
from trellis.studies.performance.section import Section, Values, percent, seconds, threads, times

_PARTS = ("toolkits", "hmm", "chains")


def peers(found: Values) -> Section:
    rows, more = [], {}
    for part in _PARTS:
        for what, one in found.get(part, {}).items():
            for way, taken in one["trellis"].items():
                rows.append([what, _trellis(way), seconds(taken["median"]), ""])
            for peer, taken in one["peers"].items():
                ratios = list(one["ratio"][peer].values())
                rows.append([what, peer, seconds(taken["median"]), ", ".join(map(times, ratios))])
                more[f"{what}: {peer}"] = ratios[0]
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    about = f"{versions}." if versions else ""
    if found["missing"]:
        about += f" Not installed, and so left out: {', '.join(found['missing'])}."
    return Section([texts.PEERS, about.strip(), table(["", "", "median", "times as fast"], rows, 2)], more)


def _trellis(way: str) -> str:
    return "Trellis" if way == "trellis" else f"Trellis, {way}"


def neural(found: Values) -> Section:
    rows = [
        [threads(n), seconds(found["pytorch-crf"][n]["median"]), seconds(own["median"]), times(found["ratio"][n])]
        for n, own in found["trellis"].items()
    ]
    about = f"{found['sentences']} sentences, {found['labels']} labels."
    more = {f"neural: pytorch-crf, {threads(n)}": ratio for n, ratio in found["ratio"].items()}
    return Section([texts.NEURAL, about, table(["", "pytorch-crf", "Trellis", ""], rows)], more)


def score(found: Values) -> Section:
    names = {"columns": "from columns as they are read", "lists": "from the same lists of strings"}
    rows = [["seqeval", seconds(found["seqeval"]["median"]), ""]]
    rows += [[f"Trellis, {text}", seconds(found[n]["median"]), times(found["ratio"][n])] for n, text in names.items()]
    about = (
        f"{found['tokens']:,} tokens, scheme `{found['scheme']}`: F1 {100 * found['f1']['trellis']:.4f}, by seqeval "
    )
    about += f"{100 * found['f1']['seqeval']:.4f}."
    more = {f"score: seqeval, {name}": found["ratio"][name] for name in names}
    return Section([texts.SCORE, about, table(["", "median", ""], rows)], more)


def weak(found: Values) -> Section:
    parts, more = [texts.WEAK], {}
    if "trellis" in found:
        rows = [["Trellis", seconds(found["trellis"]["median"]), _f1(found, "trellis"), ""]]
        if found["skweak"] is not None:
            taken, ratio = found["skweak"]["median"], found["ratio"]
            rows.append(["skweak", seconds(taken), _f1(found, "skweak"), times(ratio)])
            more["weak: skweak"] = ratio
        parts.append(
            f"Votes of {found['functions']} functions on {found['tokens']:,} tokens in {found['sentences']:,} "
            f"sentences, {found['iterations']} iterations of EM."
        )
        parts.append(table(["", "median", "F1", "times as fast"], rows))
    if "gazetteer" in found:
        own = found["gazetteer"]
        parts.append(f"A list of {own['entries']:,} phrases in {own['tokens']:,} tokens: {own['spans']:,} are found.")
        steps = {"read": "read the text", "build": "build the list", "match": "look for its phrases"}
        parts.append(table(["", "median"], [[text, seconds(own[name]["median"])] for name, text in steps.items()]))
    return Section(parts, more)


def _f1(found: Values, who: str) -> str:
    return "" if not found["f1"] or who not in found["f1"] else percent(found["f1"][who])
