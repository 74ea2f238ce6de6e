"""What the page says in words, whatever was measured."""

from __future__ import annotations

INTRO = """
What `trellis bench` has measured, one section a benchmark. Whatever is compared takes turns, round by round, in the
same process where both can be, on the same data, with the same features, prior and objective, and by one clock: wall
time, unless a table says otherwise. Each side runs once before it is timed, so that compiled kernels are loaded and
files are in the machine's cache. Figures are medians of all rounds, unless they are called best. "Times as fast" is
the other side's median over that of Trellis: above 1, Trellis is faster. Threads are those of Trellis; CRFsuite has
one.
"""
AGAIN = """
`make performance` measures all of it anew and writes this page, which takes hours; a machine that does nothing else is
needed for it. `trellis bench page RESULTS... --output docs/performance.md` writes the page from results that were
saved, each the last line of what a benchmark prints with `--json`.
"""
OVERVIEW = "How many times as fast Trellis is as each peer, by the medians; details are in the sections below."
TRAIN = """
From a text file to weights, step by step. Both systems have the same objective: log loss and a Gaussian prior, on the
same attributes and labels. Memory is that of processes of their own, at their peak and above what importing takes. To
convergence each trains once.
"""
TAG = """
From a text file to labels as strings, features included; models are trained for some iterations, and loaded before.
"""
FEATURES = """
From text to attribute numbers: the whole way from the file against that to CRFsuite's trainer, and the preset `ner` on
a corpus in memory against a Python function.
"""
OPTIMUM = """
From the text file to objectives within 1 %, 0.1 % and 0.01 % of the optimum, which a long run finds beforehand. Every
optimiser starts anew, with reading and features, in each of its runs.
"""
ONLINE = """
Learners that go by single sentences, as many epochs each as CRFsuite's own. Training is in seconds of the processor.
"""
PRODUCTS = """
A Hessian-vector product beside a value with its gradient, at a point some iterations on: with lattices that were kept,
with lattices solved again, and by differentiating forward-backward. Newton's method lives on these ratios.
"""
SEGMENTS = "An evaluation of a `SemiCRF` by how long segments may be: time should be a line in that."
PRUNING = """
Whole trainings with coarse-to-fine pruning and without, one of each; *lost*: tokens whose own label pruning would have
left out.
"""
CASCADE = "A value with its gradient, on one thread: of the stages by themselves, and of all stages as one objective."
PEERS = """
Toolkits that install from PyPI, each on what it does. Training is of the same features to the same objective for as
many iterations; marginals and EM are of the same numbers. Where Trellis has two ways, the first ratio is to the first.
"""
NEURAL = "Loss and gradient of a CRF over an encoder's scores, in PyTorch, by both with the same numbers as results."
SCORE = "Counting segments: F1 of random labels with some mistakes in them."
WEAK = "A hidden Markov model of votes; and a long list of phrases, looked for in a long text."
SCALING = """
How the time for a token grows. Labels are put into a small number of classes, and text is repeated where there is not
enough, so that only what is to grow does. An evaluation is one value of the objective with its gradient; tagging is
from words in memory to labels.
"""
BY_TOKENS = """
*growth*: time for a token over that of the shortest text, 1 where time is a line in tokens; *gain*: how many times as
fast as on the first number of threads.
"""
BY_LABELS = "*power*: from the row before, time grows as labels to this power. Forward-backward alone would have 2."
PRUNED = "*left*: labels that pruning leaves a token; *gain*: over no pruning."
MEMORY = """
What processes hold at the end of each phase, and the most they have held; *growth*: how far that is above a process
that has imported the system, with its kernels, and has no data.
"""
STARTUP = """
Seconds from start to end of fresh processes; and the first training and tagging after installation, which compile. A
second run finds what these left.
"""
ROOFLINE = """
How near the kernels of an evaluation come to what this machine can do. Its limits are measured beside them, in the
same rounds: *multiply-adds*, chains of them in all registers; *tiled products*, four rows times a matrix of the size
that forward-backward has; memory of several sizes that is read as it lies, or row by row in random order, or changed
(both ways count) in these ways. With two threads, each has memory of its own.
"""
WAYS = """
A kernel's bound is the larger of the time of its arithmetic at the rate of multiply-adds and that of its memory
traffic. *strict* counts only what no way of doing it could do without, the three matrix products of forward-backward
for the labels there are or one addition for each weight that is looked up, with everything in the nearest cache. *by
use* and *uniform* count all that the algorithm does: exponentials, scales, labels rounded up to whole registers, whole
cache lines. Of *uniform*, rows are gathered at the bandwidth of random rows in tables of that size; of *by use*, the
more often a row is asked for, the nearer it is. *rows*: weights put into rows, with the sums of groups, and back.
"""
