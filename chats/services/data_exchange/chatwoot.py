"""Converts an export of Chatwoot's API (conversations and messages as JSON) to the portable form.

Ids are derived from the row's id and time in Chatwoot, so they are the same in each run. Channels
other than the web widget become `api`, because their providers are not connected to this platform.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from chatplatform.ids import uuid7_from
from chats.services.core import channel_context

Json = dict[str, Any]
_SENDERS = {"contact": "customer", "user": "agent", "agent_bot": "bot"}
_INCOMING, _OUTGOING, _ACTIVITY = 0, 1, 2
# The API sends a message's type as a number; webhooks send it as a word.
_TYPES_BY_WORD = {"incoming": _INCOMING, "outgoing": _OUTGOING, "activity": _ACTIVITY}
_MAX_TEXT, _MAX_TAG = 8_000, 60
_KINDS = {"image": "image", "audio": "audio", "video": "video", "ig_reel": "video"}
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_EMAIL = re.compile(r"^[^@\s]+@[^@\s]+\.[^@\s]+$")


def rows(document: Any) -> list[Json]:
    """The rows in a response of Chatwoot's API; a plain list is returned as it is."""
    if isinstance(document, list):
        return document
    inner = document.get("data", document)
    return list(inner.get("payload", inner if isinstance(inner, list) else []))


def conversations(
    exported: Iterable[Json], messages: Iterable[Json], *, bot_id: int, language: str
) -> Iterator[Json]:
    """Conversations in the schema of `ConversationEntity`, oldest first. Their ratings and message
    counts come from `messages`."""
    counts, ratings = Counter[int](), dict[int, Json]()
    for message in messages:
        counts[message["conversation_id"]] += 1
        if rating := _rating(message):
            ratings[message["conversation_id"]] = rating
    for source in sorted(exported, key=lambda row: (row["created_at"], row["id"])):
        entity = _conversation(source, counts[source["id"]], bot_id=bot_id, language=language)
        yield entity | {"feedback": ratings.get(source["id"])}


def messages(exported: Iterable[Json], conversations: Iterable[Json]) -> Iterator[Json]:
    """Messages in the schema of `MessageEntity`, numbered within each conversation in the order of
    their ids. Messages of conversations that are not in `conversations` are left out."""
    chats = {source["id"]: source for source in conversations}
    seqs: Counter[int] = Counter()
    for source in sorted(exported, key=lambda row: row["id"]):
        chat = chats.get(source["conversation_id"])
        if chat:
            seqs[chat["id"]] += 1
            yield _message(source, chat, seqs[chat["id"]])


_PRIORITIES = {"low": "low", "high": "high", "urgent": "urgent"}


def _conversation(source: Json, count: int, *, bot_id: int, language: str) -> Json:
    meta = source.get("meta") or {}
    assignee = meta.get("assignee")
    ended = source["status"] == "resolved"
    snoozed_until = _time(source.get("snoozed_until"))
    created_at, latest = _time(source["created_at"]), _time(source.get("last_activity_at"))
    owner = "agent" if assignee else "bot" if source["status"] == "pending" else "queue"
    external_id = _external_id(source)
    labels = [label[:_MAX_TAG] for label in source.get("labels") or []]
    return {
        "id": _id(external_id, source["created_at"]),
        "chat_code": hashlib.sha256(f"{external_id}:{source.get('uuid')}".encode()).hexdigest()[
            :20
        ],
        "bot_id": bot_id,
        "channel": "web" if meta.get("channel") == "Channel::WebWidget" else "api",
        # Chatwoot can snooze a chat without a time, until the next message. Such a chat becomes
        # open, because no timer would ever reopen it here.
        "status": "ended" if ended else "snoozed" if snoozed_until else "open",
        "assign_type": owner,
        "assignee_email": (assignee or {}).get("email"),
        "priority": _PRIORITIES.get(source.get("priority") or "", "normal"),
        "version": 1,
        "customer": _customer(meta.get("sender") or {}),
        "customer_id": (meta.get("sender") or {}).get("id") or 0,
        "waiting_since": _time(source.get("waiting_since"))
        or (latest if owner == "queue" else None),
        "language": language,
        "tags": labels,
        "taggings": [
            {"name": label, "source": "agent", "created_at": created_at} for label in labels
        ],
        "unread_count": source.get("unread_count") or 0,
        "message_count": count,
        "last_seq": count,
        "last_message_at": latest or created_at,
        "first_response_at": _time(source.get("first_reply_created_at")),
        "ended_at": latest if ended else None,
        "ended_by": "agent" if ended else None,
        "can_reply": not ended,
        "snoozed_until": snoozed_until if not ended else None,
        "provider": "chatwoot",
        "external_id": external_id,
        "metadata": {"chatwoot": _metadata(source)},
        "created_at": created_at,
    }


def _metadata(source: Json) -> Json:
    """Values kept exactly as in Chatwoot."""
    return {
        "channel": (source.get("meta") or {}).get("channel"),
        "inbox_id": source.get("inbox_id"),
        "priority": source.get("priority"),
        "custom_attributes": source.get("custom_attributes") or {},
    }


def _customer(contact: Json) -> Json:
    email = contact.get("email") or None
    is_valid = bool(email and _EMAIL.match(email) and len(email) <= 254)
    attributes = dict(contact.get("custom_attributes") or {})
    if email and not is_valid:
        attributes["email"] = email
    avatar = contact.get("thumbnail") or ""
    return {
        "external_id": contact.get("identifier") or None,
        "name": (contact.get("name") or "")[:200] or None,
        "email": email if is_valid else None,
        "phone": (contact.get("phone_number") or "")[:40] or None,
        "avatar_url": avatar if avatar.startswith("http") and len(avatar) <= 500 else None,
        "attributes": attributes,
    }


def _external_id(chat: Json) -> str:
    """An id with the account, because each account numbers its conversations from 1."""
    return f"chatwoot:{chat.get('account_id', 0)}:conversation:{chat['id']}"


def _message(source: Json, chat: Json, seq: int) -> Json:
    external_id = f"chatwoot:{chat.get('account_id', 0)}:message:{source['id']}"
    is_activity = _kind(source) == _ACTIVITY
    is_deleted = bool(_attributes(source).get("deleted"))
    lines = [] if is_deleted else _lines(source)
    parts = [] if is_deleted else _content(source)
    lines_part = {"type": "text", "text": channel_context.to_text(lines)[:_MAX_TEXT]}
    return {
        "id": _id(external_id, source["created_at"]),
        "conversation_id": _id(_external_id(chat), chat["created_at"]),
        "seq": seq,
        "sender": _sender(source),
        "content": parts or ([] if is_deleted else [lines_part]),
        "deleted_at": _time(source.get("updated_at") or source["created_at"])
        if is_deleted
        else None,
        "metadata": {} if is_deleted else _metadata_of(source, lines, has_content=bool(parts)),
        "status": source.get("status") if source.get("status") in _STATUSES else "sent",
        # Only agents see activities in Chatwoot.
        "is_note": bool(source.get("private")) or is_activity,
        "citations": [],
        "translations": {},
        "external_id": external_id,
        "provider_message_id": source.get("source_id"),
        "created_at": _time(source["created_at"]),
    }


_STATUSES = {"sent", "delivered", "read", "failed"}


def _sender(source: Json) -> Json:
    sender = source.get("sender") or {}
    kind = {_INCOMING: "customer", _OUTGOING: "agent"}.get(_kind(source), "system")
    kind = _SENDERS.get(str(sender.get("type")), kind)
    sender_id = str(sender["id"]) if sender.get("id") else None
    return {"type": kind, "id": sender_id, "name": (sender.get("name") or "")[:200]}


def _kind(source: Json) -> Any:
    kind = source["message_type"]
    return _TYPES_BY_WORD.get(kind, kind) if isinstance(kind, str) else kind


def _attributes(source: Json) -> Json:
    attributes = source.get("content_attributes")
    return attributes if isinstance(attributes, dict) else {}


def _rating(source: Json) -> Json | None:
    """The rating in Chatwoot's survey; None if this message is not a survey that the customer
    answered."""
    answers = _attributes(source).get("submitted_values")
    survey = answers.get("csat_survey_response") if isinstance(answers, dict) else None
    if not isinstance(survey, dict) or survey.get("rating") not in range(1, 6):
        return None
    at = _time(source.get("updated_at") or source["created_at"])
    comment = str(survey.get("feedback_message") or "")[:_MAX_TEXT]
    return {"rating": survey["rating"], "comment": comment, "created_at": at}


def _content(source: Json) -> list[Json]:
    """The parts of a message: its text, split if it is long, then its files and locations."""
    # NUL and lone surrogates cannot be stored.
    text = _UNSTORABLE.sub("", source.get("content") or "")
    texts = [text[start : start + _MAX_TEXT] for start in range(0, len(text), _MAX_TEXT)]
    parts: list[Json] = [{"type": "text", "text": part} for part in texts]
    for attachment in source.get("attachments") or []:
        url = attachment.get("data_url") or ""
        coordinates = attachment.get("coordinates_lat"), attachment.get("coordinates_long")
        if attachment.get("file_type") == "location" and None not in coordinates:
            location = {"latitude": coordinates[0], "longitude": coordinates[1]}
            title = (attachment.get("fallback_title") or "")[:_MAX_TEXT] or None
            parts.append({"type": "location", "location": location, "text": title})
        elif url.startswith("http"):
            kind = _KINDS.get(str(attachment.get("file_type")), "file")
            parts.append({"type": kind, "url": url, "size_bytes": attachment.get("file_size")})
    return parts


def _metadata_of(source: Json, lines: list[channel_context.Line], *, has_content: bool) -> Json:
    email = _attributes(source).get("email")
    subject = email.get("subject") if isinstance(email, dict) else None
    metadata: Json = {"chatwoot": {"subject": str(subject)[:500]}} if subject else {}
    if lines:
        metadata |= {"lines": lines} | ({} if has_content else {"no_words": True})
    return metadata


def _lines(source: Json) -> list[channel_context.Line]:
    """A line for each shared contact and each attachment that cannot be shown."""
    lines: list[channel_context.Line] = []
    for attachment in source.get("attachments") or []:
        file_type, title = str(attachment.get("file_type")), attachment.get("fallback_title") or ""
        meta = attachment.get("meta") or {}
        label = " ".join(filter(None, (meta.get("firstName"), meta.get("lastName"), title)))[:500]
        if file_type == "contact":
            lines.append({"kind": "contact", "text": label})
        elif not attachment.get("data_url") and file_type != "location":
            lines.append({"kind": "unsupported", "text": label or file_type.replace("_", " ")})
    return lines


def _id(external_id: str, created_at: Any) -> str:
    """A UUIDv7 built from the row's time and a hash of its external id."""
    time = _time(created_at)
    return str(uuid7_from(int(time.timestamp() * 1000) if time else 0, external_id))


def _time(value: Any) -> datetime | None:
    """A time given as seconds since 1970 or in ISO 8601; None if it is zero or missing."""
    if not value:
        return None
    if isinstance(value, str) and not value.isdigit():
        time = datetime.fromisoformat(value)
        return time if time.tzinfo else time.replace(tzinfo=UTC)
    return datetime.fromtimestamp(int(value), UTC)
