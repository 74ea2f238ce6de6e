"""`trellis weak`: labels without an annotator."""

from __future__ import annotations

import click

from trellis.cli.weak_analyze import analyze_
from trellis.cli.weak_apply import apply_
from trellis.cli.weak_fit import fit_
from trellis.cli.weak_label import label_
from trellis.cli.weak_relate import relate_


@click.group()
def weak() -> None:
    """Labels from rules, lists and models that vote: apply functions, analyse votes, fit a label model, label;
    or from facts: relate.

    \b
    Example:
      trellis weak apply rules.py raw.txt --columns word,pos --output votes.txt
      trellis weak analyze votes.txt
      trellis weak fit votes.txt --model believed.trellis
      trellis weak label believed.trellis votes.txt --output train.txt
      trellis train train.txt --columns word,pos,label --target label --model tagger.trellis
      trellis weak relate kb.tsv raw.txt --columns word,pos --output relations.jsonl
    """


for command in (apply_, analyze_, fit_, label_, relate_):
    weak.add_command(command)
