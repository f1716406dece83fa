"""Messages of a page to its customers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson

from channels_app.providers import http, text
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.socialnet.accounts import APP
from channels_app.providers.types import (
    Account,
    Envelope,
    OutgoingFile,
    Part,
    Sent,
    Signal,
    SurveyRequest,
)

MAX_TEXT = 2000  # characters
MAX_CHOICES, MAX_TITLE, MAX_PAYLOAD = 13, 20, 1000
_ACTIONS: dict[Signal, str] = {
    "seen": "mark_seen", "typing_on": "typing_on", "typing_off": "typing_off",
}  # fmt: skip


def parts(content: Sequence[Part]) -> list[Part]:
    """Texts cut to the limit; choices below the last piece, as a list where buttons cannot."""
    planned = []
    for part in content:
        if part.file:
            planned.append(part)
            continue
        fits = len(part.choices) <= MAX_CHOICES and all(
            len(choice.title) <= MAX_TITLE and len(choice.payload) <= MAX_PAYLOAD
            for choice in part.choices
        )
        words = part.text if fits else text.as_lines(part.text, part.choices)
        pieces = [Part(text=piece) for piece in text.split(words, MAX_TEXT)]
        if pieces and fits:
            pieces[-1] = replace(pieces[-1], choices=part.choices)
        planned += pieces
    return planned


def send(account: Account, part: Part, envelope: Envelope) -> Sent:
    """Send one part; our id goes along as metadata, which the echo brings back."""
    body: dict[str, Any] = {"recipient": {"id": envelope.recipient_id}}
    body |= (
        {"messaging_type": "MESSAGE_TAG", "tag": envelope.tag}
        if envelope.tag
        else {"messaging_type": "RESPONSE"}
    )
    if envelope.reply_to:
        body["reply_to"] = {"mid": envelope.reply_to}
    body["message"] = _message(account, part) | {"metadata": envelope.send_id}
    answer = APP.call(
        "POST", f"{http.path_segment(account.id)}/messages", token=account.token, json=body,
        is_send=True,
    )  # fmt: skip
    message_id = answer.body.get("message_id")
    if not isinstance(message_id, str) or not message_id:
        raise ProviderError(Kind.UNCERTAIN, "The provider's answer does not name the message.")
    return Sent(message_id, answer.pause)


def signal(account: Account, recipient_id: str, signal: Signal) -> None:
    """Mark as seen, or show that somebody types (for 20 seconds)."""
    body = {"recipient": {"id": recipient_id}, "sender_action": _ACTIONS[signal]}
    path = f"{http.path_segment(account.id)}/messages"
    APP.call("POST", path, token=account.token, json=body)


def send_survey(account: Account, survey: SurveyRequest) -> None:
    """Ask for one to five stars and a few words."""
    question = {
        "id": survey.question_id,
        "type": "csat",
        "title": survey.title,
        "score_label": "neg_pos",
        "score_option": "five_stars",
        "follow_up": {"type": "free_form"},
    }
    payload = {
        "template_type": "customer_feedback",
        "title": survey.title,
        "subtitle": survey.subtitle,
        "button_title": survey.button,
        "feedback_screens": [{"questions": [question]}],
        "business_privacy": {"url": survey.privacy_url},
        "expires_in_days": 3,
    }
    body = {
        "recipient": {"id": survey.recipient_id},
        "messaging_type": "UPDATE",
        "message": {"attachment": {"type": "template", "payload": payload}},
    }
    APP.call(
        "POST", f"{http.path_segment(account.id)}/messages", token=account.token, json=body,
        is_send=True,
    )  # fmt: skip


def _message(account: Account, part: Part) -> dict[str, Any]:
    if part.file:
        return {"attachment": {"type": part.file.kind, "payload": _payload(account, part.file)}}
    message: dict[str, Any] = {"text": part.text}
    if part.choices:
        message["quick_replies"] = [
            {"content_type": "text", "title": choice.title, "payload": choice.payload}
            for choice in part.choices
        ]
    return message


def _payload(account: Account, file: OutgoingFile) -> dict[str, Any]:
    """By its address; a file of our store is uploaded first, since the provider cannot get it."""
    if not file.open:
        return {"url": file.url, "is_reusable": True}
    attachment = {"attachment": {"type": file.kind, "payload": {"is_reusable": True}}}
    form = http.multipart({"message": orjson.dumps(attachment).decode()}, "filedata", file)
    body = APP.call(
        "POST", f"{http.path_segment(account.id)}/message_attachments", token=account.token,
        form=form,
    ).body  # fmt: skip
    return {"attachment_id": str(body.get("attachment_id") or "")}
