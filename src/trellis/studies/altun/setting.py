"""The parts of the page that say how things were done: readings of the paper, data, priors, clock."""

from __future__ import annotations

from trellis.report.markdown import page
from trellis.studies.altun.measures import along_the_way
from trellis.studies.altun.methods import METHODS
from trellis.studies.altun.results import Study
from trellis.studies.altun.runs import steps_of
from trellis.studies.altun.tasks import OFTEN

_USUAL_EPOCHS = 20  # of a perceptron

READINGS = f"""
**Feature sets.** S1 is the word and the transition between labels. S2 adds the last one, two and three letters of the
word, what kind of character it begins with (lower case, upper case, digit or other), and whether it is capitalised and
contains a dot, is in capitals throughout, contains a hyphen: those that the paper names; it says that there were some
more. S3 has all of S2 also for the word before and the word after, which is how we read "a window of size 3". Weights
exist for pairs of an attribute and a label, and for transitions, that are seen in training; there are none for the
beginning or the end of a sentence. On the Spanish corpus S3 has 93,099 attributes: 77,849 words and 15,229 endings at
their three places, and 21 others. An ending is not counted where the word is shorter than that; if it were, there would
be 1,151 more. Tsuboi et al., who say that they use these features, have 99,135; where the rest comes from is not known.

**Parts of speech.** The paper has sections 1 to 21 of the Penn Treebank for training and section 22 for testing, which
are not free. Here it is the tags in CoNLL-2000's files (sections 15 to 18 and 20, of the same newspaper; tags that a
tagger has given, 44 of them) and the free sample of the Treebank (files 1 to 149 for training, 170 to 199 for testing,
45 tags). Both are smaller, so the figures cannot be the same. Words seen {OFTEN} times or more in training may have
only the tags they were seen with there (the paper's tag dictionary; it does not say how often is often). The paper has
no S3 for parts of speech; here the sample has one.

**Losses.** The paper's F1 to F4 are the log loss, the exponential loss, and the pointwise ones in the same order. All
are summed over sentences, with a Gaussian prior l2/2 |w|^2. The exponential loss of a sentence is 1/P(y) - 1, and
goes on along its tangent where -log P(y) is above 50, because it is no number for a sentence of a thousand words at
the start. Its training begins at the minimum of the log loss, found roughly, and so does that of the pointwise
losses, which are not convex. What the paper did in these cases it does not say; it speaks of about 7,200 Spanish
sentences, of which there are 8,323.

**Named entities** are scored by segments as conlleval does, on the file testb; parts of speech by tokens. (The paper
speaks of the accuracy of labels for both in one place, and of F1 for entities in its tables.)
"""


def about_running(study: Study) -> str:
    settings, here = study.settings, study.machine
    threads = settings["threads"] or here["cores"]
    missing = [method.name for method in METHODS.values() if not method.is_there]
    without = f" Not in this version, so left out: {', '.join(missing)}." if missing else ""
    return page(
        f'Every training is one `fit` of `trellis.CRF`; but for perceptron and boosting with `optimizer="auto"`, which '
        f"is L-BFGS, after some epochs of descent where the loss is the log loss. It ends when "
        f"ten iterations gain less than {settings['tol']:g} "
        f"of the objective (a tenth of that for the pointwise exponential loss, of which most is a constant), or after "
        f"{settings['max_iter']} iterations; then a star stands behind the score. Seconds are those that "
        f"the processor was busy with `fit`, from a corpus in memory to a model, on {threads} threads; Python "
        f"{here['python']}, NumPy {here['numpy']}, Numba {here['numba']}.{without}",
    )


_BOOSTING = """
This boosting is not the paper's Algorithm 2 to the letter. It bounds the loss token by token, which is tighter than the
paper's bound over whole paths; a change may go on along its line as long as the loss falls; the loss of a sentence goes
on along its tangent beyond -log P(y) = 2, so that no sentence outweighs the others; and sums are smoothed by 0.3 mean
losses of a sentence, which was chosen on the file testa. The bound is checked in every round. The paper's own is there
as well (`bound="paths"`), and much slower: on 1,200 Spanish sentences with S3 it had found no entity after 1,000
rounds, where this one came to an F1 of 59. The number of rounds is a choice: 30,000 on CoNLL-2000 came to 91.09 (S1)
and 97.41 (S2) on the test data, with 29% and 28% of the weights.
"""


def about_methods(study: Study) -> str:
    """Perceptron and boosting."""
    most = study.settings["max_iter"]
    steps = {task: steps_of(METHODS["boosting"], task, most) for task, _ in study.scope.tasks}
    rounds = ", ".join(f"{500 * count:,} ({task})" for task, count in steps.items())
    return page(
        f"The averaged perceptron makes {min(METHODS['perceptron'].max_iter, most)} epochs. Boosting changes one "
        f"weight a round, in {rounds} rounds, so that it uses no more than about a quarter of the weights: the paper's "
        "uses about 10%. Neither has a prior. Where there is a file to score on besides the test data (entities, and "
        "the Treebank sample) both keep the weights that do best there; on CoNLL-2000 they keep their last ones. "
        "Boosting has no tag dictionary.",
        _about_epochs(study),
        _BOOSTING,
    )


def _about_epochs(study: Study) -> str:
    """What many epochs are good for."""
    run = along_the_way(study, "ner", "s1", "perceptron")
    early = None if run is None else next((each for each in run.moments if each.iteration >= _USUAL_EPOCHS), None)
    if run is None or run.dev is None or early is None:
        return ""
    return (
        f"With words alone the perceptron needs its epochs: F1 on the Spanish file testa is {100 * early.dev:.1f} "
        f"after {early.iteration} of them, and {100 * run.dev:.1f} in the end. A word that is not in the training data "
        "has no weights there, so that transitions alone decide, and these take long to outgrow their beginnings."
    )


def about_priors(study: Study) -> str:
    places = "; ".join(f"{task}: {place}" for task, place in study.held_out.items())
    return (
        "Chosen for every loss and feature set, from all sentences, by the score on held-out data "
        f"({places}). The same l2 serves smaller corpora: a prior says what weights are likely before any data are "
        "seen. Of equal scores the strongest prior is taken."
    )
