"""Check the signatures of the Graph providers' callbacks, and read the events of two of them.

Socialnet and photoapp share most events; some exist at only one of them.
"""

import hashlib
import hmac
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.utils import timezone
from pydantic import ValidationError

from channels_app.providers import context_lines, events
from channels_app.providers.callback_parsing import key_of, moment, place_of, unsupported
from channels_app.providers.json_values import as_dict, as_list, as_text, dicts_in
from channels_app.schemas import graph_callback as hook
from chatplatform import crypto
from chats.services.core.channel_context import Kind, Line

_FILES: dict[str, Any] = {
    "image": "image", "sticker": "image", "audio": "audio", "video": "video", "file": "file",
}  # fmt: skip
# Matches a payload that is a code instead of words, such as JSON or GET_STARTED.
_CODE = re.compile(r"^\s*[\[{<]|^\S*[_=:|/]\S*$")
# Matches a code whose words can be shown, such as GET_STARTED.
_WORDY_CODE = re.compile(r"[A-Z]+(_[A-Z]+)*")
# The types of attachments that share a post, and the kind of each one's line.
_POSTS: dict[str, Kind] = {
    "share": "post", "post": "post", "media": "post", "ig_post": "post", "reel": "reel",
    "ig_reel": "reel", "story": "story", "ig_story": "story",
}  # fmt: skip
# What agents read of attachments that chats cannot show; "fallback" says nothing.
_NAMES = {"fallback": "", "ephemeral": "disappearing photo or video"}
_THUMBS_UP = {"369239263222822", "369239343222814", "369239383222810"}
_PARTS = (
    "message", "postback", "reaction", "delivery", "read", "message_edit", "messaging_feedback",
    "response_feedback", "referral", "take_thread_control", "pass_thread_control",
)  # fmt: skip


def is_signed(headers: Mapping[str, str], raw: bytes, secrets: Sequence[str]) -> bool:
    """Whether one of the app secrets signed exactly these bytes."""
    signature = headers.get("X-Hub-Signature-256", "").removeprefix("sha256=").lower()
    return any(
        crypto.constant_time_equal(
            signature, hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()
        )
        for secret in secrets
    )


def items(body: Any, *, app_ids: Collection[str]) -> Iterator[events.Item]:
    """All items of a callback, in order. An echo from one of `app_ids` is our own message."""
    for entry in entries_of(body):
        account_id, sent_at = as_text(entry.get("id")), moment(entry.get("time"))
        for raw in as_list(entry.get("messaging")):
            yield _item(raw, account_id, sent_at, app_ids)
        for raw in as_list(entry.get("standby")):
            # Another app controls the thread, so the event is recorded but ignored.
            yield unsupported(raw, account_id, sent_at, "standby")
        for change in as_list(entry.get("changes")):
            field = as_text(as_dict(change).get("field"))
            if field == "messages":
                yield _item(change.get("value"), account_id, sent_at, app_ids)
            else:
                yield unsupported(change, account_id, sent_at, f"changes.{field}")


def entries_of(body: Any) -> Iterator[dict[str, Any]]:
    """The entries of a callback."""
    for item in dicts_in(body):
        yield from dicts_in(item.get("entry"))


def _item(
    raw: Any, entry_id: str, sent_at: datetime | None, app_ids: Collection[str]
) -> events.Item:
    try:
        event = hook.Messaging.model_validate(raw)
    except ValidationError:
        return unsupported(raw, entry_id, sent_at, "malformed")
    sender = (event.sender and event.sender.id) or ""
    recipient = (event.recipient and event.recipient.id) or ""
    is_echo = bool(event.message and event.message.is_echo)
    account_id = (sender if is_echo else recipient) or entry_id
    user_id = recipient if is_echo else sender
    if event.policy_enforcement is not None:
        return _policy(event, raw, account_id, moment(event.timestamp) or sent_at)
    part = next((name for name in _PARTS if getattr(event, name) is not None), None)
    if part is None:
        names = sorted(set(raw) - {"sender", "recipient", "timestamp"})
        return unsupported(raw, account_id, sent_at, ",".join(names))
    if not user_id:
        return unsupported(raw, account_id, sent_at, f"{part} of nobody")
    at = moment(event.timestamp) or sent_at
    common = {"account_id": account_id, "user_id": user_id, "at": at or timezone.now()}
    # An item without a time is identified by its whole content: keys must not depend on our clock.
    known = _known(event, common, app_ids, when=at or repr(raw))
    return known or unsupported(raw, account_id, sent_at, part)


def _known(
    event: hook.Messaging, common: dict[str, Any], app_ids: Collection[str], *, when: datetime | str
) -> events.Item | None:
    if event.message:
        return _message(event.message, common, app_ids, when)
    if event.postback is not None:
        return _postback(event.postback, common, when)
    if event.reaction:
        reaction = event.reaction
        is_new = reaction.action != "unreact"
        words = reaction.emoji or reaction.reaction
        return events.Reacted(
            **common, message_id=reaction.mid, reaction=words[:40] if is_new and words else None,
            key=key_of("reaction", reaction.mid, when, reaction.action),
        )  # fmt: skip
    if event.delivery:
        return _receipt("delivered", event.delivery.mids or [], event.delivery.watermark, common)
    if event.read:
        mids = [event.read.mid] if event.read.mid else []
        return _receipt("read", mids, event.read.watermark, common)
    if event.message_edit:
        edit = event.message_edit
        return events.Edited(
            **common, message_id=edit.mid, text=edit.text or "",
            key=key_of("edit", edit.mid, edit.num_edit, when),
        )  # fmt: skip
    if event.messaging_feedback:
        return _survey(event.messaging_feedback, common)
    if event.response_feedback:
        thumb = event.response_feedback
        return events.Rated(
            **common, message_id=thumb.mid, is_good=(thumb.feedback or "").startswith("Good"),
            key=key_of("thumb", thumb.mid),
        )  # fmt: skip
    if event.referral:
        return events.Referred(
            **common, referral=event.referral, key=key_of("referral", common["user_id"], when)
        )
    if event.take_thread_control is not None or event.pass_thread_control is not None:
        return _control(event, common, app_ids, when)
    return None


def _message(
    message: hook.HookMessage,
    common: dict[str, Any],
    app_ids: Collection[str],
    when: datetime | str,
) -> events.Item | None:
    if message.is_deleted and message.mid:
        return events.Unsent(**common, message_id=message.mid, key=key_of("unsend", message.mid))
    content = _content(message)
    if message.is_echo and message.mid:
        return events.Echo(
            **common, message_id=message.mid, content=content, send_id=message.metadata,
            is_foreign=message.app_id not in app_ids if message.app_id else None,
            key=key_of("message", message.mid),
        )  # fmt: skip
    if message.is_deleted or message.is_echo:
        return None
    if content.is_empty:
        if message.text == "" or not message.mid:
            return None
        content = events.Content(lines=[context_lines.line("unsupported")])
    payload = (message.quick_reply or {}).get("payload")
    urls = (file.url for file in content.files)
    of_content = ("message", common["user_id"], when, content.text, *urls)
    story = message.reply_to.story if message.reply_to else None
    metadata = {"payload": payload, "referral": message.referral, "story": story}
    about = list(context_lines.of_referral(message.referral))
    if story:
        about.append(context_lines.line("story_reply", url=as_text(story.get("url"))))
    return events.MessageIn(
        **common, message_id=message.mid,
        content=replace(content, lines=[*about, *content.lines]),
        reply_to=message.reply_to.mid if message.reply_to else None,
        metadata={name: value for name, value in metadata.items() if value},
        key=key_of("message", message.mid) if message.mid else key_of(*of_content),
    )  # fmt: skip


def _content(message: hook.HookMessage) -> events.Content:
    words, about = [message.text or ""], list[Line]()
    files, place, stickers = list[events.InboundFile](), None, set[str]()
    for attachment in message.attachments or []:
        payload, kind = attachment.payload or {}, attachment.type or ""
        urls = (payload.get("url"), payload.get("story_media_url"), attachment.url)
        url = context_lines.first_text(*urls)
        title = attachment.title or as_text(payload.get("title"))
        at = as_dict(payload.get("coordinates"))
        found = place_of(at.get("lat"), at.get("long"), title or "")
        if kind == "location" and found:
            place = found
        elif kind == "like_heart":
            words.append("❤️")
        elif as_text(payload.get("sticker_id")) in _THUMBS_UP:
            words.append("👍")
        elif kind in _FILES:
            sticker = as_text(payload.get("sticker_id"))
            # The provider may send a sticker twice: as an image and as a sticker.
            if not sticker or sticker not in stickers:
                is_sticker = bool(sticker) or kind == "sticker"
                about += [context_lines.line("sticker")] if is_sticker else []
                name = "sticker" if is_sticker else ""
                files.append(events.InboundFile(_FILES[kind], url=url, file_name=name))
            stickers.add(sticker)
        elif kind == "story_mention":
            about.append(context_lines.line("story_mention"))
            files.append(events.InboundFile("image", url=url))
        elif kind == "template":
            about += _of_template(payload, words)
        elif kind in _POSTS:
            about.append(context_lines.line(_POSTS[kind], title, url=url))
        elif url:
            about += context_lines.of_link(url, title, words=words[0])
        else:
            name = _NAMES.get(kind, kind.replace("_", " "))
            about.append(context_lines.line("unsupported", context_lines.joined([name, title])))
    if message.is_unsupported:
        about.append(context_lines.line("unsupported"))
    return events.Content(
        text="\n".join(dict.fromkeys(line for line in words if line)),
        files=files,
        place=place,
        lines=about,
    )


def _of_template(payload: dict[str, Any], words: list[str]) -> list[Line]:
    """The lines for a template: its products, or a note that there is nothing to show.

    If the template has texts instead of products, they are added to `words`; there are no lines.
    """
    if products := context_lines.of_products(as_dict(payload.get("product")).get("elements")):
        return products
    texts = [as_text(payload.get("text"))]
    for element in dicts_in(payload.get("elements")):
        texts += [as_text(element.get("title")), as_text(element.get("subtitle"))]
    words += filter(None, texts)
    return [] if any(texts) else [context_lines.line("unsupported", "template")]


def _postback(
    postback: hook.HookPostback, common: dict[str, Any], when: datetime | str
) -> events.Item:
    payload = postback.payload or ""
    text = postback.title or ("" if _CODE.search(payload) else payload)
    about = context_lines.of_referral(postback.referral)
    if not text:
        shown = "" if payload.startswith(("{", "[")) else payload
        if _WORDY_CODE.fullmatch(payload):
            shown = payload.replace("_", " ").capitalize()
        about.append(context_lines.line("tapped", shown))
    metadata = {"payload": postback.payload, "referral": postback.referral}
    of_mid = ("message", postback.mid)
    of_tap = ("postback", common["user_id"], when, postback.payload)
    return events.MessageIn(
        **common, message_id=postback.mid, content=events.Content(text=text, lines=about),
        metadata={name: value for name, value in metadata.items() if value},
        key=key_of(*(of_mid if postback.mid else of_tap)),
    )  # fmt: skip


def _control(
    event: hook.Messaging, common: dict[str, Any], app_ids: Collection[str], when: datetime | str
) -> events.Item:
    """The item that says whether we control the thread.

    After a take event, another app has control. A pass event names the app that now has control;
    if it names none, we have it.
    """
    passed = event.pass_thread_control
    owner = as_text((passed or {}).get("new_owner_app_id"))
    return events.ThreadControl(
        **common, is_ours=passed is not None and (not owner or owner in app_ids),
        key=key_of("thread", common["user_id"], when, passed is None),
    )  # fmt: skip


def _policy(event: hook.Messaging, raw: Any, account_id: str, at: datetime | None) -> events.Item:
    """The item for a provider's action against an account that broke a rule, or for its end."""
    policy = event.policy_enforcement or {}
    action, reason = as_text(policy.get("action")), as_text(policy.get("reason"))
    text = f"The provider reports: {action or 'a broken rule'}."
    return events.AccountTrouble(
        account_id=account_id, at=at or timezone.now(), is_over=action == "unblock",
        reason=f"{text} “{reason}”" if reason else text,
        key=key_of("policy", action, at or repr(raw)),
    )  # fmt: skip


def _receipt(
    status: Any, mids: Sequence[str], watermark: int | None, common: dict[str, Any]
) -> events.Item | None:
    if not mids and watermark is None:
        return None
    return events.Receipt(
        **common, status=status, message_ids=mids, and_before=status == "read",
        up_to=moment(watermark),
        key=key_of(status, common["user_id"], watermark, *sorted(mids)),
    )  # fmt: skip


def _survey(feedback: hook.MessagingFeedback, common: dict[str, Any]) -> events.Item | None:
    for screen in feedback.feedback_screens:
        for question_id, answer in screen.questions.items():
            score = answer.payload or ""
            return events.Survey(
                **common, question_id=question_id,
                rating=int(score) if score.isascii() and score.isdigit() else None,
                comment=(answer.follow_up and answer.follow_up.payload) or "",
                key=key_of("survey", common["user_id"], question_id),
            )  # fmt: skip
    return None
