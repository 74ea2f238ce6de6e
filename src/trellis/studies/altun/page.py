"""The page that is written about a study: the paper's tables and claims beside our figures, in Markdown."""

from __future__ import annotations

from trellis.report.markdown import page, table
from trellis.studies.altun import tables
from trellis.studies.altun.claims import judge
from trellis.studies.altun.methods import LOSSES
from trellis.studies.altun.pictures import plots_of
from trellis.studies.altun.plan import COMPARED, NOISY_TIMES
from trellis.studies.altun.results import Study
from trellis.studies.altun.setting import READINGS, about_methods, about_priors, about_running
from trellis.studies.altun.tasks import KINDS

_INTRO = """
Altun, Johnson and Hofmann (2003) train conditional random fields with four losses: the log loss of whole sentences and
the exponential one, and the same two of single labels (pointwise). They compare them on parts of speech and on Spanish
named entities with three sets of features, and the gradient method with an averaged perceptron and with boosting. This
page repeats their experiments (Tables 1 to 3, and what their text says of corpus sizes, priors and noise).
"""
_QUICK = (
    "**This is a quick run on a little data, to see that everything works; where no folder with corpora was given, "
    "that is the corpus that ships with Trellis, whatever the headings say. Its figures and verdicts mean nothing.**"
)
_OPEN = "A star: stopped at the limit on iterations, before it converged."


def write_page(study: Study, images: str) -> str:
    """`images`: what stands before the names of plots in links."""
    tasks = [task for task, _ in study.scope.tasks]
    speech = [task for task in tasks if task != "ner"]
    plots = plots_of(study)

    def plot(name: str, text: str) -> str:
        return f"![{text}]({images}{name})" if name in plots else ""

    return page(
        "# Losses and optimisers for label sequences",
        _INTRO,
        _QUICK if study.settings["quick"] else "",
        about_running(study),
        "## What comes of the claims",
        _claims(study),
        _READ_CLAIMS,
        "## Parts of speech, four losses (Table 1)",
        f"Accuracy on test data in percent, paper / here. {_OPEN}",
        tables.of_losses(study, speech),
        "## Named entities, four losses (Table 2)",
        f"F1 on test data in percent, paper / here. {_OPEN}",
        tables.of_losses(study, [task for task in tasks if task == "ner"]),
        "## Perceptron and boosting (Table 3)",
        "Scores on test data in percent, paper / here; for parts of speech the paper has no perceptron.",
        tables.of_methods(study, tasks),
        about_methods(study),
        "Boosting's best score on held-out data with so many of the weights:",
        tables.of_sparseness(study, tasks),
        *(plot(f"boosting-{task}.png", "Boosting along the way") for task in tasks),
        "## Training time and active features",
        "Where there is a file to score on, the times of perceptron and boosting contain that.",
        tables.of_costs(study, tasks),
        "## Smaller corpora",
        "Sentences drawn at random; a smaller corpus is part of a larger one. The paper shows no figures of these.",
        *(part for task in tasks for part in _sizes(study, task, plot(f"sizes-{task}.png", "Scores by size"))),
        "## Priors",
        "The log loss. Of each kind of prior the strength that does best on held-out data, at each size; without a "
        "prior training goes on until it gains too little or is stopped.",
        *(tables.of_priors(study, task) for task in COMPARED if task in tasks),
        "## Wrong labels",
        _NOISE,
        tables.of_noise(study),
        plot("noise.png", "Scores under noise"),
        "## How the paper was read",
        READINGS,
        "## The data",
        tables.of_data(study),
        "## The priors that were chosen",
        about_priors(study),
        tables.of_chosen(study),
        "## Again",
        _AGAIN,
    )


_READ_CLAIMS = """
Points of F1 or accuracy, one figure for each task (`ner`, `pos`, `ptb`) and feature set; the least favourable loss
where a claim is about all of them. *holds*: it is right about every figure; *mixed*: about some of them.
"""
_TIMES = " and ".join(f"{times:g}" for times in NOISY_TIMES)
_NOISE = f"""
Named entities, S2. A share of the tokens of the training data, drawn at random, gets another label, each of the others
as likely as any (so `I-` may follow `O`); test data stay as they are. F1 with the prior that was chosen without noise /
with the best on held-out data of that prior, and {_TIMES} times as strong ones.
"""
_AGAIN = """
```console
$ trellis data get conll2000
$ trellis data get conll2002-es
$ trellis reproduce altun --out altun
```

`altun/results.json` has all that was measured. The sample of the Treebank is used where a folder `ptb-sample` with
`train.txt`, `dev.txt` and `test.txt` (two columns) is beside the others.
"""


def _claims(study: Study) -> str:
    rows = [[each.claim.text, each.claim.paper, each.here, each.verdict] for each in judge(study)]
    return table(["claim", "paper", "here", "verdict"], rows, 4)


def _sizes(study: Study, task: str, plot: str) -> list[str]:
    if not any(study.result(task, KINDS[task].features[0], loss) for loss in LOSSES):
        return []
    title = KINDS[task].title
    return [f"{title[0].upper()}{title[1:]}, {KINDS[task].measure}:", tables.of_sizes(study, task), plot]
