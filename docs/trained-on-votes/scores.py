"""Draws scores.png from the first table of trained-on-votes.md, the figures of which are printed by the examples.

python docs/trained-on-votes/scores.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

PAGE = Path(__file__).parent.with_suffix(".md")
COLOURS = ["#bdbdbd", "#90b6da", "#2b6ca3", "#0b3c68", "#d9a441"]
LEAST, WIDTH = 45, 0.16  # where the axis begins; of a bar


def table(page: Path) -> tuple[list[str], dict[str, list[float | None]]]:
    """Names of the columns, and of each row its numbers; None where there is none."""
    lines = [line for line in page.read_text(encoding="utf-8").split("\n\n")[2].splitlines() if line.startswith("|")]
    (_, *names), _, *rows = ([cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines)
    return names, {name: [float(cell) if cell else None for cell in cells] for name, *cells in rows}


def main() -> None:
    names, rows = table(PAGE)
    figure, axes = plt.subplots(figsize=(8.9, 4.1), layout="constrained")
    for k, (name, colour) in enumerate(zip(names, COLOURS, strict=True)):
        there = [(i, scores[k]) for i, scores in enumerate(rows.values()) if scores[k] is not None]
        at = [i + WIDTH * (k - 2) for i, _ in there]
        bars = axes.bar(at, [score for _, score in there], 0.92 * WIDTH, color=colour, label=name)
        axes.bar_label(bars, fmt="%.1f", fontsize=7, padding=2)
    axes.set_xticks(range(len(rows)), [name.replace(", ", "\n") for name in rows])
    axes.set_ylim(LEAST, 97)
    axes.set_ylabel("percent on test")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=len(names), frameon=False, fontsize=8)
    figure.savefig(PAGE.parent / "trained-on-votes" / "scores.png", dpi=100)


if __name__ == "__main__":
    main()
