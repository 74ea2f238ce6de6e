"""The features of the preset `ner` as a careful user of plain Python would write them: lists of strings.

What a token's neighbours need too (lower case, shapes) is worked out once per sentence, not once per use. The strings
are Trellis' own attribute names, so that a test can compare them one by one.
"""

from __future__ import annotations

from collections.abc import Sequence


def ner_strings(words: Sequence[str], tags: Sequence[str]) -> list[list[str]]:
    """The attributes of every token of a sentence."""
    n = len(words)
    before, after = ["_B-2", "_B-1"], ["_B+1", "_B+2"]
    word = [*before, *words, *after]
    pos = [*before, *tags, *after]
    lower = [w.lower() for w in word]
    shapes = ["", "", *(shape(w) for w in words), "", ""]
    shorts = ["", "", *(squeezed(s) for s in shapes[2 : n + 2]), "", ""]
    capitals = [False, False, *(w[0].isupper() for w in words), False, False]
    caps = [False, False, *(all_caps(w) for w in words), False, False]
    sentence = []
    for t in range(2, n + 2):
        w = word[t]
        found = [
            f"U:word[-2]={word[t - 2]}",
            f"U:word[-1]={word[t - 1]}",
            f"U:word[0]={w}",
            f"U:word[1]={word[t + 1]}",
            f"U:word[2]={word[t + 2]}",
            f"U:lower(word)[-1]={lower[t - 1]}",
            f"U:lower(word)[0]={lower[t]}",
            f"U:lower(word)[1]={lower[t + 1]}",
            f"U:lower(word)[-1]&lower(word)[0]={lower[t - 1]}/{lower[t]}",
            f"U:lower(word)[0]&lower(word)[1]={lower[t]}/{lower[t + 1]}",
            f"U:pos[-2]={pos[t - 2]}",
            f"U:pos[-1]={pos[t - 1]}",
            f"U:pos[0]={pos[t]}",
            f"U:pos[1]={pos[t + 1]}",
            f"U:pos[2]={pos[t + 2]}",
            f"U:pos[-1]&pos[0]={pos[t - 1]}/{pos[t]}",
            f"U:pos[0]&pos[1]={pos[t]}/{pos[t + 1]}",
            f"U:pos[-1]&pos[0]&pos[1]={pos[t - 1]}/{pos[t]}/{pos[t + 1]}",
        ]
        for k in range(1, 5):
            if len(w) >= k:
                found.append(f"U:prefix(word,{k})[0]={w[:k]}")
                found.append(f"U:suffix(word,{k})[0]={w[-k:]}")
        for d in (-1, 1):
            if 2 <= t + d < n + 2 and len(word[t + d]) >= 3:
                found.append(f"U:suffix(word,3)[{d}]={word[t + d][-3:]}")
        for d in (-1, 0, 1):
            if shapes[t + d]:
                found.append(f"U:shape(word)[{d}]={shapes[t + d]}")
            if capitals[t + d]:
                found.append(f"U:is_capitalized(word)[{d}]=true")
            if caps[t + d]:
                found.append(f"U:all_caps(word)[{d}]=true")
        for d in (-2, -1, 0, 1, 2):
            if shorts[t + d]:
                found.append(f"U:short_shape(word)[{d}]={shorts[t + d]}")
        a, b, c = shorts[t - 1], shorts[t], shorts[t + 1]
        if a:
            found.append(f"U:short_shape(word)[-1]&short_shape(word)[0]={a}/{b}")
        if c:
            found.append(f"U:short_shape(word)[0]&short_shape(word)[1]={b}/{c}")
        if a and c:
            found.append(f"U:short_shape(word)[-1]&short_shape(word)[0]&short_shape(word)[1]={a}/{b}/{c}")
        if any(character.isdigit() for character in w):
            found.append("U:has_digit(word)[0]=true")
        if "-" in w:
            found.append("U:has_hyphen(word)[0]=true")
        if "." in w:
            found.append("U:has_dot(word)[0]=true")
        if t == 2:
            found.append("U:is_first(word)[0]=true")
        sentence.append(found)
    return sentence


def shape(word: str) -> str:
    """Xxxx for Jack, dd-X for 12-B."""
    letters = []
    for character in word:
        if character.isupper():
            letters.append("X")
        elif character.isalpha():
            letters.append("x")
        elif character.isdigit():
            letters.append("d")
        else:
            letters.append(character)
    return "".join(letters)


def squeezed(text: str) -> str:
    """Each run of one character as one."""
    letters: list[str] = []
    for character in text:
        if not letters or letters[-1] != character:
            letters.append(character)
    return "".join(letters)


def all_caps(word: str) -> bool:
    """Whether there are letters, and all are capitals."""
    letters = [character for character in word if character.isalpha()]
    return bool(letters) and all(character.isupper() for character in letters)
