"""From rules to a classifier of texts: messages to a shop are sorted into bills, parcels and praise, without a label.

    python examples/weak_texts.py
    python examples/weak_texts.py youtube-wrench

Functions vote on the messages, a label model learns whom to believe, and a classifier learns from its probabilities:
it knows words that no rule has. With a folder, it is WRENCH's JSON (train, valid, test), which has its votes; the label
model is the usual one, and the gold labels of valid choose how the classifier learns.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import trellis as tr
from trellis import weak

FUNCTIONS = [
    weak.text_pattern(r"(?i)\b(invoice|refund|charged?|bill(ed)?)\b", "bill", name="money"),
    weak.text_pattern(r"[$€£]\s?\d|\d\s?(euros?|dollars?|pounds?)", "bill", name="amount"),
    weak.text_pattern(r"(?i)\b(parcel|package|deliver(y|ed)|courier)\b", "parcel", name="parcel"),
    weak.text_pattern(r"(?i)\b(tracking|arrived?|lost|late)\b", "parcel", name="late"),
    weak.text_pattern(r"(?i)\b(thank|thanks|love|great|wonderful)\b", "praise", name="kind_words"),
    weak.text_pattern(r"!$", "praise", name="exclaims"),
    weak.text_pattern(r"\?$", "parcel", name="asks"),  # a crude one: most who ask, ask where their things are
]

MESSAGES = """
Where is my parcel? It should have been here on Monday.
I was charged twice for one pair of boots.
Thank you, the lamp is wonderful!
The invoice says 49 euros, but the price on your page was 39.
My package has not arrived, and the tracking page shows nothing.
Great service, great people, I will be back!
The courier left the box in the rain and the books are wet.
Please send the refund to my new account.
I love the blue scarf, and so does my sister!
Tracking says delivered, but nobody rang and nothing is at the door.
You billed my card before the order was even packed.
Is the delivery still coming this week?
The second invoice is a mistake, I have already paid.
Thanks for the quick reply, everything is fine now.
The package went to my old address. Can the driver fetch it?
A discount was promised, yet the full amount left my account.
Wonderful wrapping, my mother was so happy!
Nothing has come yet, and the shop says it was sent ten days ago.
Why is there a fee of $5 on my bill?
The box arrived late and one cup is broken.
I have paid by card, and the money was taken two times.
What a lovely little note you put in the box, thank you!
Half of the order arrived. Where is the other half?
The amount on my card statement is not the amount on the receipt.
Delivered a day early, great!
Could you tell me when the driver will be at my door?
My bank says that the payment went through, so please stop the reminders.
The parcel is lost, says the post office.
Best shop in town, my children love the kites!
I sent the shoes back three weeks ago and still wait for my refund.
The driver could not find the house and took everything back to the depot.
Please correct the receipt, the tax number is wrong.
Thanks, the second cup came in one piece.
Your reminder asks for 20 pounds that I have paid in May.
It has been at the depot for a week, says the page.
So pleased with the chair, my back feels wonderful!
The price of the kettle on my receipt is higher than on the shelf.
The neighbours have no box for me, and the driver left no card.
I paid in advance, and yet a reminder came today.
Such friendly people on the phone, thanks a lot.
Did the courier scan the right box? Mine has somebody else's shoes in it.
Two payments for one order were taken from my account.
My daughter adores the puzzle, great choice!
The order was to come on Friday, and now it is Tuesday.
Please cancel the reminder, the bill is settled.
The van stopped, looked at the hill and drove away with my boxes.
How lovely, the cups are even nicer than on the page!
Customs sent it back, what now?
My account was debited before I had pressed the button.
The gift card has no money on it, though I paid 30 dollars.
""".strip().splitlines()

ASKED = """
bill: My card was debited 15 euros too much.
bill: The receipt shows two kettles, and I have paid for one.
bill: A reminder again, although the payment went through in June.
bill: Why was the full price taken from my account, not the discount price?
bill: Please transfer the money back to my card.
bill: The tax on the receipt is wrong.
bill: I was asked to pay a fee nobody had told me of.
bill: When will my account see the money for the shoes I sent back?
parcel: The driver never rang, and the box went back to the depot.
parcel: It was sent two weeks ago and is still not here.
parcel: Nothing at the door, nothing at the neighbours.
parcel: The box is at the post office, but they cannot find it.
parcel: Somebody else's order was in my box.
parcel: One of three boxes has come so far.
parcel: The van has driven by twice without stopping.
parcel: The cups came in pieces, the box had been dropped.
praise: Such a lovely chair, my sister wants one, too.
praise: So happy with the kites.
praise: The people on the phone were friendly and quick.
praise: My mother adores the scarf!
praise: Even nicer than on the page, I am so pleased.
praise: What a friendly little shop.
praise: The best puzzle my children ever had.
praise: I will be back for the lamp, it is lovely!
""".strip().splitlines()


PRIORS = (0.3, 1.0, 3.0)


def on_messages() -> None:
    items = [{"text": text} for text in MESSAGES]
    votes = weak.apply(FUNCTIONS, items)
    print(weak.analyze(votes).as_text(), end="\n\n")
    gold, texts = zip(*(line.split(": ", 1) for line in ASKED), strict=True)
    asked = weak.apply(FUNCTIONS, [{"text": text} for text in texts], labels=votes.labels)
    right = weak.gold_of(tr.Corpus.from_lists({"gold": [[one] for one in gold]}), "gold", asked.space)
    print(f"{len(items)} messages without labels, {len(texts)} to test on")
    for name in ("majority", "generative"):
        model = weak.label_model(name)().fit(votes)
        print(f"{name}, the votes alone{100 * model.evaluate(asked, right).accuracy:10.2f}")
    classifier = weak.teach(tr.TextClassifier(l2=0.3), list(MESSAGES), model, votes)
    print(f"classifier of words{100 * classifier.score(list(texts), list(gold)):17.2f}")
    for text in ("The money is not on my account", "The box never came", "Friendly, quick and lovely"):
        label, chance = classifier.predict([text])[0], classifier.predict_proba([text]).max()
        print(f"  {text:<34}{label:<8}{chance:.2f}")


def on_folder(folder: Path) -> None:
    train, valid, test = (weak.read_wrench(folder / f"{part}.json") for part in ("train", "valid", "test"))
    print(f"{folder.name}: {len(train.votes.functions)} functions, {len(train):,} texts to learn from\n")
    print("| | on valid | on test |")
    print("|---|---|---|")
    for name in ("majority", "generative"):
        model = weak.label_model(name)().fit(train.votes)
        scores = (100 * model.evaluate(part.votes, part.gold).accuracy for part in (valid, test))
        print(f"| {name}, the votes alone | {' | '.join(f'{score:.2f}' for score in scores)} |", flush=True)
    tried = []
    for learn in ("hard", "soft", "evidence"):
        for l2 in PRIORS:
            classifier = weak.teach(tr.TextClassifier(l2=l2), train.texts, model, train.votes, learn=learn)
            tried.append((*scores_of(classifier, valid, test), f"classifier, {learn}, l2 {l2}"))
            print("| {2} | {0:.2f} | {1:.2f} |".format(*tried[-1]), flush=True)
    print("| **chosen: {2}** | {0:.2f} | {1:.2f} |".format(*max(tried, key=lambda one: one[0])))
    right = [train.labels[k] for k in train.gold]
    trained = [(*scores_of(tr.TextClassifier(l2=l2).fit(train.texts, right), valid, test), l2) for l2 in PRIORS]
    print("| classifier, gold labels, l2 {2} | {0:.2f} | {1:.2f} |".format(*max(trained, key=lambda one: one[0])))


def scores_of(classifier: tr.TextClassifier, *parts: weak.Items) -> list[float]:
    return [100 * classifier.score(part.texts, [part.labels[k] for k in part.gold]) for part in parts]


def main() -> None:
    parser = argparse.ArgumentParser(description="Classifiers of texts trained on votes.")
    parser.add_argument("folder", nargs="?", type=Path, help="with train.json, valid.json and test.json of WRENCH's")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    try:
        on_messages() if given.folder is None else on_folder(given.folder)
    except (tr.TrellisError, OSError) as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
