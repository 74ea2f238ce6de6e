"""Random template files in both notations, and random columns of short sentences to apply them to."""

from __future__ import annotations

from hypothesis import strategies as st

FAR = 6  # beyond most of the short sentences, and beyond the four places that Wapiti tells apart
WORDS = ["a", "b", "Ab", "aB-1", "É.a", 'x"']
NEW_WORDS = [*WORDS, "a1", "zz", "_B-1"]
TAGS = ["a", "X", "Y"]  # one in common with the words

_rows = st.integers(-FAR, FAR)
_names = st.sampled_from(["w", "p", "0", "1"])
_signs = st.sampled_from([*"abA1-.", *(f"\\{c}" for c in 'adlpsuwADLPSUW.-"')])
_items = st.tuples(_signs, st.sampled_from(["", "", "*", "?"])).map("".join)
_patterns = st.tuples(
    st.sampled_from(["", "^"]), st.lists(_items, min_size=1, max_size=3).map("".join), st.sampled_from(["", "$"])
).map("".join)
_crfpp_parts = st.builds("%x[{},{}]".format, _rows, _names)
_wapiti_rows = st.builds("{}{:+d}".format, st.sampled_from(["", " "]), _rows) | st.builds(
    "@{}".format, _rows.filter(bool)
)
_wapiti_parts = st.builds("%{}[{},{}]".format, st.sampled_from("xX"), _wapiti_rows, _names) | st.builds(
    '%{}[{}, {} ,"{}"]'.format, st.sampled_from("tTmM"), _wapiti_rows, _names, _patterns
)
# lines that only a file in Wapiti's notation has, so that it is known for one
_WAPITI_MARKS = ["u:%x[0,0]", "*:%x[ 0,w]", "U:%X[0,0]", 'U:%t[0,0,"a"]', "U:%x[@1,0]"]


@st.composite
def template_files(draw, wapiti=False):
    """Some lines with the same literals, so that they share attributes; others with an id of their own."""
    part = _wapiti_parts if wapiti else _crfpp_parts
    literal = st.text("/|=ß: " if wapiti else "/|=ß: #", min_size=1, max_size=2)  # signs that no value has
    lines = [draw(st.sampled_from(_WAPITI_MARKS))] if wapiti else ["U:%x[0,w]"] * draw(st.integers(0, 1)) + ["U"]
    for k in range(draw(st.integers(1, 3))):
        kind, literals = draw(st.sampled_from("UuBb*" if wapiti else "UUB")), draw(st.lists(literal, max_size=4))
        for _ in range(draw(st.integers(1, 3))):
            lines.append(f"{kind}{k}:" + "".join(text + draw(part) for text in literals))
    for k in range(len(lines)):
        lines[k] += draw(st.sampled_from(["", "", "\n", "\n# %x[9,9]", *(["  # %x[9,9]", "#"] * wapiti)]))
    return "\n".join(lines)


@st.composite
def texts(draw, words=WORDS, tags=TAGS, least=0):
    """Two columns of short sentences, empty ones too, with at least so many tokens."""
    lengths = draw(st.lists(st.integers(0, 5), max_size=4).filter(lambda lengths: sum(lengths) >= least))
    return {
        name: [draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)) for n in lengths]
        for name, values in (("w", words), ("p", tags))
    }
