"""Ten labeling functions for names of places, people, organisations and other things, as one writes them in an hour.

    trellis weak apply examples/weak_rules.py train.txt --columns word,pos,chunk,entity --output votes.txt
    python examples/weak_rules.py

They were written after reading the training part of the corpus that ships; its test part was not looked at. The lists
are general knowledge and far from complete. Several rules are crude on purpose: `two_capitals` takes every pair of
capitalised words for a person, `after_preposition` every name after "in" for a place. So they contradict each other,
and a label model has to find out whom to believe. Run as a script, this file says how well that goes.
"""

from __future__ import annotations

import trellis as tr
from trellis import weak

COARSE = {"ENT": ["LOC", "MISC", "ORG", "PER"]}  # some name or other

COUNTRIES = """
Argentina, Armenia, Australia, Austria, Belgium, Brazil, Bulgaria, Cambodia, Canada, Chile, China, Colombia, Croatia,
Cuba, Cyprus, Denmark, Egypt, England, Estonia, Ethiopia, Finland, France, Georgia, Germany, Ghana, Greece, Hungary,
Iceland, India, Indonesia, Iran, Iraq, Ireland, Israel, Italy, Japan, Jordan, Kenya, Latvia, Lebanon, Lithuania, Mexico,
Morocco, Nepal, the Netherlands, New Zealand, Niger, Nigeria, Norway, Pakistan, Peru, Poland, Portugal, Romania, Russia,
Scotland, Serbia, Slovenia, South Africa, South Korea, Spain, Sri Lanka, Sweden, Switzerland, Syria, Taiwan, Thailand,
Tunisia, Turkey, Uganda, Ukraine, United Kingdom, United States, USA, Vietnam, Wales, Zambia
"""
CITIES = """
Accra, Amsterdam, Athens, Bangkok, Barcelona, Beijing, Beirut, Belgrade, Bergen, Berlin, Bologna, Boston, Bristol,
Brussels, Budapest, Buenos Aires, Cairo, Cape Town, Cardiff, Chicago, Copenhagen, Dakar, Delhi, Dublin, Edinburgh,
Florence, Geneva, Glasgow, Hamburg, Hanoi, Helsinki, Istanbul, Jakarta, Kyoto, Lagos, Leeds, Lima, Lisbon, Liverpool,
London, Los Angeles, Lyon, Madrid, Manchester, Manila, Marseille, Melbourne, Milan, Montreal, Moscow, Mumbai, Munich,
Nairobi, Naples, New York, Osaka, Oslo, Ottawa, Oxford, Paris, Porto, Prague, Rome, Rotterdam, Santiago, Seoul, Seville,
Shanghai, Singapore, Sofia, Stockholm, Sydney, Tallinn, Tokyo, Toronto, Tunis, Vienna, Victoria, Vilnius, Warsaw, Zurich
"""
NATIONALITIES = """
African American Arabic Armenian Asian Australian Austrian Basque Belgian Brazilian British Bulgarian Canadian Chilean
Chinese Colombian Croatian Cuban Czech Danish Dutch Egyptian English Estonian European Finnish French German Greek
Hungarian Icelandic Indian Irish Israeli Italian Japanese Kenyan Korean Latin Latvian Mexican Moroccan Nigerian
Norwegian Peruvian Polish Portuguese Roman Romanian Russian Scottish Serbian Spanish Swedish Swiss Thai Turkish
Ukrainian Vietnamese Welsh Americans Australians Canadians Danes Europeans Germans Greeks Hungarians Italians Poles
Russians Swedes
"""
FIRST_NAMES = """
Ahmed Aisha Alan Alice Amina Anders Andrea Andrew Anna Antonio Astrid Ben Carlos Carmen Charles Charlotte Chen Clara
Daniel David Diana Eduardo Elena Elias Elizabeth Emil Emily Emma Eric Eva Fatima Felix Francesca Frank George Giulia
Hanna Hans Helen Henry Hugo Ibrahim Ines Ingrid Irina Isabel Ivan Jack James Jan Jane John Jonas Jose Joseph Juan Julia
Karl Kate Katarina Kenji Kevin Kofi Lars Laura Leo Lucia Luis Magnus Marco Marcus Margaret Maria Marie Marta Martin Mary
Maya Mehmet Michael Miguel Mohammed Nadia Nina Nora Oliver Olga Omar Oskar Otto Paolo Paul Pedro Peter Petra Pierre
Rachel Rafael Ravi Richard Robert Rosa Ruth Samuel Sara Sarah Simon Sofia Stefan Susan Sven Teresa Thomas Tom Tomas
Victor Victoria Viktor William Yuki Yusuf Zoe
"""
HEADS = {  # the last word of a name often says what it is a name of
    "LOC": "Avenue Bridge Court Hall Hotel Island Islands Lane Mountains Park River Road Sea Square Station Street",
    "ORG": "Air Authority Bank Books Club Foods Foundation Group Herald Hospital Institute League Ministry Motors "
    "School Systems Telecom University",
    "MISC": "Act Award Cup Fair Festival Games Prize Rally War",
}
NO_NAMES = """
Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays
January February March April May June July August September October November December I Mr. Mrs. Ms. Dr. Dear Prime
Minister Professor Chief President Uncle Aunt Chef Room The A An In
"""

_no_name = frozenset(NO_NAMES.split())
_first_names = frozenset(FIRST_NAMES.split())
_heads = {word: kind for kind, heads in HEADS.items() for word in heads.split()}


def _is_name(word: str) -> bool:
    return word[0].isupper() and word[-1].isalpha() and word not in _no_name


def _runs(words: list[str]) -> list[tuple[int, int]]:
    """Start and end of rows of capitalised words, small words between two of them included."""
    found, t = [], 0
    while t < len(words):
        end = t
        while end < len(words) and _is_name(words[end]):
            end += 1
            if end + 1 < len(words) and end > t and words[end] in ("of", "&") and _is_name(words[end + 1]):
                end += 1
        if end > t:
            found.append((t, end))
        t = end + 1
    return found


# 1 and 2: lists. A country may be a name of several tokens; a nationality is one word.
places = weak.gazetteer([each.strip() for each in f"{COUNTRIES},{CITIES}".split(",")], "LOC")
nationalities = weak.words(NATIONALITIES.split(), "MISC", votes="spans")


# 3: a first name, and the capitalised words behind it.
@weak.spans
def people(sentence):
    for start, end in _runs(sentence.words):
        for t in range(start, end):
            if sentence[t] in _first_names:
                yield t, end, "PER"


# 4: a regular expression; the title itself is no part of the name, the group is.
titled = weak.pattern(
    r"(?:Mr\.|Mrs\.|Ms\.|Dr\.|Professor|Minister|Chef|Uncle|Aunt|Auntie|executive) ((?:[A-Z]\w+ )*[A-Z]\w+)(?= |$)",
    "PER",
    group=1,
)


# 5: what the last word, or the first, says: Harbour Street, University of Tartu.
@weak.spans
def heads(sentence):
    for start, end in _runs(sentence.words):
        name = sentence[start:end]
        head = next((word for word in [*reversed(name), name[0]] if word in _heads), None)
        if head is not None and len(name) > 1:
            yield start, end, _heads[head]


# 6: a name behind "in" is a place. Labels of tokens, None to abstain.
@weak.tokens
def after_preposition(sentence):
    labels = [None] * len(sentence)
    for start, end in _runs(sentence.words):
        if start and sentence[start - 1] in ("in", "near", "to", "from", "at"):
            labels[start:end] = ["B-LOC"] + ["I-LOC"] * (end - start - 1)
    return labels


# 7: two capitalised words or more in a row: a person, says somebody who read about people only.
two_capitals = weak.shape("Xx", "PER", least=2)


# 8: capitalised, and not because a sentence begins there: a name of some kind.
@weak.spans
def capitalised(sentence):
    return [(start, end, "ENT") for start, end in _runs(sentence.words) if start]


# 9: no label at all, only that two neighbours belong together.
@weak.links
def one_name(sentence):
    runs = [range(start + 1, end) for start, end in _runs(sentence.words)]
    return [True if any(t in run for run in runs) else None for t in range(len(sentence))]


# 10: what these call a name in one way wherever they know it has that name everywhere.
everywhere = weak.consistent([places, people, titled, heads], least=1)


def main() -> None:
    """Label models learn from the votes on the training part, without its labels; scores are those on the test part."""
    functions = weak.load_functions(__file__).functions
    train, test = (weak.apply(functions, tr.sample_corpus(part), coarse=COARSE) for part in ("train", "test"))
    print(weak.analyze(train).as_text())
    gold = weak.gold_of(tr.sample_corpus("test"), "entity", test.space)
    print("\nexact-span F1 on the test part")
    for name in ["majority", "weighted", "triplets", "generative", "dawid-skene", "hmm", "linked-hmm"]:
        model = weak.label_model(name)().fit(train)
        print(f"{name:<12} {100 * model.evaluate(test, gold).headline:.2f}")


if __name__ == "__main__":
    main()
