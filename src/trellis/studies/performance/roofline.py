"""The section on how near kernels come to what the machine can do."""

from __future__ import annotations

from functools import partial

from trellis.report.markdown import table
from trellis.report.plots import BLACK, BLUE, GREEN, GREY, PURPLE, VERMILLION, Line, Panel, Style, draw
from trellis.studies.performance import texts
from trellis.studies.performance.pictures import LEGEND, draw_bars
from trellis.studies.performance.section import Picture, Section, Values, data_of, percent, threads, times

_DASHES = ("-", "--", "-.", ":")
_KERNELS = {
    "forward-backward": (BLUE, "o"),
    "scores": (VERMILLION, "s"),
    "gradient": (PURPLE, "^"),
    "rows": (GREEN, "D"),
}
_FROM, _TO = 1.0 / 64, 16.0  # numbers of arithmetic for a byte


def roofline(found: Values) -> Section:
    counts = list(found["evaluation"])
    data = found["data"]
    parts: list[str | Picture] = [
        texts.ROOFLINE,
        f"{data_of(data)}: {data['tokens']:,} tokens, {found['labels']} labels in rows of {found['width']} numbers.",
        _limits(found, counts),
    ]
    parts += [_bandwidths(found, n) for n in counts]
    parts.append(texts.WAYS)
    parts += [_kernels(found, n) for n in counts]
    for n in counts:
        panel, title = _panel(found, n), f"roofline, {threads(n)}"
        name = "roofline" if n == counts[0] else f"roofline-{n}"
        parts.append(
            Picture(
                name,
                f"The roofline, {threads(n)}: from what is possible down to what is reached",
                partial(draw, [panel], title, legend=LEGEND),
            )
        )
    bars = {
        f"{name}, {way}, {threads(n)}": bound["within"]
        for name, by_threads in found["kernels"].items()
        for n, judged in by_threads.items()
        for way, bound in judged["bounds"].items()
        if name in ("forward-backward", "all of scoring")
    }
    title = "times the bound"
    parts.append(Picture("within", "How many times the bound kernels take", partial(draw_bars, bars, title)))
    return Section(parts, {})


def _limits(found: Values, counts: list[str]) -> str:
    rows = [
        [name, *(f"{rates[n]['median'] / 1e9:.1f}" for n in counts)]
        for name, rates in found["limits"]["arithmetic"].items()
    ]
    return table(["10^9 a second", *map(threads, counts)], rows)


def _bandwidths(found: Values, n: str) -> str:
    kinds = found["limits"]["bandwidth"]
    sizes = list(next(iter(kinds.values())))
    rows = [
        [f"{int(size) // 1024:,} kB", *(f"{rates[size][n]['median'] / 1e9:.1f}" for rates in kinds.values())]
        for size in sizes
    ]
    return table([f"GB a second, {threads(n)}", *kinds], rows)


def _kernels(found: Values, n: str) -> str:
    ways = list(next(iter(found["kernels"].values()))[n]["bounds"])
    rows = []
    for name, by_threads in found["kernels"].items():
        judged, cells = by_threads[n], []
        for way in ways:
            bound = judged["bounds"][way]
            cells += [f"{bound['ns']:.1f} ({bound['by']})", times(bound["within"])]
        rows.append([name, f"{judged['ns']:.1f}", *cells])
    heads = [f"ns a token, {threads(n)}", "measured", *(cell for way in ways for cell in (way, ""))]
    whole = found["evaluation"][n]
    share = (
        f"A whole evaluation takes {1e9 * whole['median'] / found['data']['tokens']:.0f} ns a token; these kernels are "
        f"{percent(whole['share_of_kernels'])} of that."
    )
    return f"{table(heads, rows)}\n\n{share}"


def _panel(found: Values, n: str) -> Panel:
    """Rates against arithmetic for a byte: roofs, and for each kernel a line from its bound down to what it reaches."""
    top = found["limits"]["arithmetic"]["multiply-adds"][n]["median"]
    lines = [Line("multiply-adds", [_FROM, _TO], [top / 1e9] * 2, Style(BLACK))]
    reads = found["limits"]["bandwidth"]["read rows"]
    for k, (size, rates) in enumerate(reads.items()):
        rate = rates[n]["median"]
        meet = min(_TO, max(_FROM, top / rate))
        roof = Style(GREY, _DASHES[k % len(_DASHES)], width=1.0)
        lines.append(Line(f"rows in {_size(int(size))}", [_FROM, meet], [_FROM * rate / 1e9, meet * rate / 1e9], roof))
    for name, (colour, marker) in _KERNELS.items():
        work, judged = found["work"][name]["full"], found["kernels"][name][n]
        if work["amount"] > 0:
            rates = [work["amount"] / ns for ns in (judged["ns"], judged["bounds"]["uniform"]["ns"])]
            lines.append(Line(name, [work["amount"] / work["bytes"]] * 2, rates, Style(colour, "-", marker, 2.4)))
    return Panel("arithmetic for a byte", "10^9 a second", lines, log_x=True, log_y=True)


def _size(count: int) -> str:
    return f"{count >> 10} kB" if count < 1 << 20 else f"{count >> 20} MB"
