"""The customer feedback survey of socialnet, and its submission."""

from simulator.world import Json


def is_survey(message: Json) -> bool:
    return _payload(message).get("template_type") == "customer_feedback"


def _payload(message: Json) -> Json:
    attachment = message.get("attachment")
    payload = attachment.get("payload") if isinstance(attachment, dict) else None
    return payload if isinstance(payload, dict) else {}


def answer(message: Json, score: str, comment: str) -> Json:
    """The `messaging_feedback` when a customer submits this survey."""
    question = _payload(message)["feedback_screens"][0]["questions"][0]
    filled: Json = {"type": question["type"], "payload": score}
    if comment:
        filled["follow_up"] = {"type": "free_form", "payload": comment}
    return {"feedback_screens": [{"screen_id": 0, "questions": {question["id"]: filled}}]}
