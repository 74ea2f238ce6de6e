"""conlleval's counting, token by token: slow, obvious, and independent of trellis.

Reads two columns of tags from left to right and remembers only the previous token, as the script does. A
sentence boundary is a token tagged O in both columns that is not counted.
"""

from __future__ import annotations

from collections import Counter


def parts(tag: str) -> tuple[str, str]:
    if "-" not in tag:
        return tag, ""
    cut = tag.index("-")
    return tag[:cut], tag[cut + 1 :]


def chunk_ends(before: tuple[str, str], now: tuple[str, str]) -> bool:
    """Does a chunk end between two neighbours?"""
    if before[0] == "O":
        return False
    if before[1] != now[1]:
        return True
    if before[0] in ("E", "S"):
        return True
    return now[0] in ("B", "S", "O")


def chunk_starts(before: tuple[str, str], now: tuple[str, str]) -> bool:
    """Does a chunk start between two neighbours?"""
    if now[0] == "O":
        return False
    if before[1] != now[1]:
        return True
    if now[0] in ("B", "S"):
        return True
    return before[0] in ("E", "S", "O")


def count(
    gold: list[list[str]], predicted: list[list[str]]
) -> tuple[int, int, Counter[str], Counter[str], Counter[str]]:
    """(tokens, correct tokens, gold chunks, predicted chunks, correct chunks), the last three by type."""
    tokens = right = 0
    in_gold: Counter[str] = Counter()
    in_predicted: Counter[str] = Counter()
    in_both: Counter[str] = Counter()
    last_gold = last_predicted = ("O", "")
    agreeing = False  # both columns are in a chunk that began at the same token with the same type
    boundary = [("O", "O", False)]
    rows = []
    for gold_tags, predicted_tags in zip(gold, predicted, strict=True):
        rows += [(g, p, True) for g, p in zip(gold_tags, predicted_tags, strict=True)] + boundary
    for gold_tag, predicted_tag, is_token in rows:
        now_gold, now_predicted = parts(gold_tag), parts(predicted_tag)
        if agreeing:
            gold_ended = chunk_ends(last_gold, now_gold)
            predicted_ended = chunk_ends(last_predicted, now_predicted)
            if gold_ended and predicted_ended:
                in_both[last_gold[1]] += 1
            if gold_ended or predicted_ended:
                agreeing = False
        gold_started = chunk_starts(last_gold, now_gold)
        predicted_started = chunk_starts(last_predicted, now_predicted)
        if gold_started:
            in_gold[now_gold[1]] += 1
        if predicted_started:
            in_predicted[now_predicted[1]] += 1
        if gold_started and predicted_started and now_gold[1] == now_predicted[1]:
            agreeing = True
        if is_token:
            tokens += 1
            right += gold_tag == predicted_tag
        last_gold, last_predicted = now_gold, now_predicted
    return tokens, right, in_gold, in_predicted, in_both
