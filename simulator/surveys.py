"""The customer feedback survey of socialnet: the rules of the template, and its answer."""

import re
from typing import Any

from simulator.http import graph_error
from simulator.world import Json

_ID = re.compile(r"[A-Za-z0-9_]{1,80}")
_URL = re.compile(r"https?://|www\.", re.IGNORECASE)
_LENGTHS = {"title": 65, "subtitle": 80, "button_title": 20}
OPTIONS = {
    "csat": ("five_stars", "one_to_five", "five_emojis"),
    "nps": ("zero_to_ten",),
    "ces": ("one_to_seven",),
    "free_form": (),
}
_LABELS = {"neg_pos", "hard_easy", "unlike_like", "dis_sat", "poor_great", "none"}


def is_survey(message: Json) -> bool:
    return _payload(message).get("template_type") == "customer_feedback"


def _payload(message: Json) -> Json:
    attachment = message.get("attachment")
    payload = attachment.get("payload") if isinstance(attachment, dict) else None
    return payload if isinstance(payload, dict) else {}


def check(payload: Json) -> None:
    """Refuse a template that the provider would refuse."""
    for name, length in _LENGTHS.items():
        text = payload.get(name)
        if not isinstance(text, str) or not 0 < len(text) <= length or _URL.search(text):
            raise _refused(f"{name} has 1-{length} characters and no address")
    question = _only_question(payload.get("feedback_screens"))
    _check_question(question)
    privacy = payload.get("business_privacy")
    if not isinstance(privacy, dict) or not _URL.match(str(privacy.get("url", ""))):
        raise _refused("business_privacy[url] is required")
    days = payload.get("expires_in_days", 1)
    if not isinstance(days, int) or not 1 <= days <= 7:
        raise _refused("expires_in_days is a number from 1 to 7")


def _only_question(screens: Any) -> Json:
    screen = screens[0] if isinstance(screens, list) and len(screens) == 1 else None
    questions = screen.get("questions") if isinstance(screen, dict) else None
    if not isinstance(questions, list) or len(questions) != 1 or not isinstance(questions[0], dict):
        raise _refused("there is exactly one screen with exactly one question")
    question: Json = questions[0]
    return question


def _check_question(question: Json) -> None:
    kind = question.get("type")
    if not _ID.fullmatch(str(question.get("id", ""))):
        raise _refused("a question's id has 1-80 letters, digits and underscores")
    if kind not in OPTIONS:
        raise _refused(f"a question's type is one of {', '.join(OPTIONS)}")
    if "title" in question and not 5 <= len(str(question["title"])) <= 85:
        raise _refused("a question's title has 5-85 characters")
    if "score_option" in question and question["score_option"] not in OPTIONS[kind]:
        raise _refused(f"score_option of {kind} is one of {', '.join(OPTIONS[kind])}")
    if "score_label" in question and question["score_label"] not in _LABELS:
        raise _refused("score_label is not known")
    follow_up = question.get("follow_up")
    if follow_up is None:
        return
    if not isinstance(follow_up, dict) or follow_up.get("type") != "free_form":
        raise _refused("follow_up[type] is free_form")
    if len(str(follow_up.get("placeholder", ""))) > 65:
        raise _refused("placeholder has at most 65 characters")


def _refused(rule: str) -> Exception:
    return graph_error(100, f"Invalid customer feedback template: {rule}")


def answer(message: Json, score: str, comment: str) -> Json:
    """What `messaging_feedback` holds when a customer fills in this survey."""
    question = _only_question(_payload(message).get("feedback_screens"))
    filled: Json = {"type": question["type"], "payload": score}
    if comment:
        filled["follow_up"] = {"type": "free_form", "payload": comment}
    return {"feedback_screens": [{"screen_id": 0, "questions": {question["id"]: filled}}]}
