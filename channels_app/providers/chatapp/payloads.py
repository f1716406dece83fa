"""Split messages to customers into parts, and build the bodies of the calls that send them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from channels_app.providers import http, text
from channels_app.providers.chatapp.accounts import APP
from channels_app.providers.types import Account, Choice, OutgoingFile, Part

# The provider's limits, in characters, buttons and rows.
MAX_TEXT, MAX_BESIDE_CHOICES, MAX_CAPTION = 4096, 1024, 1024
MAX_BUTTONS, MAX_BUTTON_TITLE, MAX_BUTTON_PAYLOAD = 3, 20, 256
MAX_ROWS, MAX_ROW_TITLE, MAX_ROW_PAYLOAD = 10, 24, 200
# The title of the button that opens a list; the same word in most languages.
LIST_BUTTON = "Menu"
_TYPES = {"image": "image", "audio": "audio", "video": "video", "file": "document"}
# The maximum size in bytes, by kind. A larger file, or one of another MIME type, is sent as a
# document, whose limit is 100 MB.
_MAX_BYTES = {"image": 5_000_000, "audio": 16_000_000, "video": 16_000_000}
_MIMES = {
    "image": {"image/jpeg", "image/png"},
    "audio": {"audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"},
    "video": {"video/mp4", "video/3gpp"},
}


def parts(content: Sequence[Part]) -> list[Part]:
    """Split texts at the limit. Choices follow the last piece as buttons or as a list.

    Each message is charged for. To save one, choices may become lines of the text, and a text may
    become the caption of the file after it.
    """
    planned = []
    for part in text.as_captions(content, MAX_CAPTION, has_caption=_has_caption):
        if part.place or part.template:
            planned.append(part)
            continue
        if part.file:
            planned += _of_file(part, part.file)
            continue
        is_shown = _are_buttons(part.choices) or (
            len(part.choices) <= MAX_ROWS and _fit(part.choices, MAX_ROW_TITLE, MAX_ROW_PAYLOAD)
        )
        fits = bool(part.choices) and bool(part.text.strip()) and is_shown
        as_lines = text.as_lines(part.text, part.choices)
        # One message with lines is better than two with buttons.
        if len(part.text.strip()) > MAX_BESIDE_CHOICES and len(as_lines) <= MAX_TEXT:
            fits = False
        pieces = text.split(part.text if fits else as_lines, MAX_TEXT)
        if pieces and fits:
            pieces[-1:] = text.split(pieces[-1], MAX_BESIDE_CHOICES)
        planned += [Part(text=piece) for piece in pieces]
        if pieces and fits:
            planned[-1] = replace(planned[-1], choices=part.choices)
    return planned


def content(account: Account, part: Part) -> dict[str, Any]:
    """The fields of a call's body for this part. Uploads the part's file if it is in our store."""
    if part.template:
        return {"type": "template", "template": {
            "name": part.template.name, "language": {"code": part.template.language},
            "components": [*_header(account, part.file), *part.template.components],
        }}  # fmt: skip
    if part.file:
        kind = _type_of(part.file)
        return {"type": kind, kind: _media(account, part.file, kind, part.text)}
    if part.place:
        place = {"latitude": part.place.latitude, "longitude": part.place.longitude}
        named = {"name": part.place.name} if part.place.name else {}
        return {"type": "location", "location": place | named}
    if not part.choices:
        return {"type": "text", "text": {"body": part.text, "preview_url": False}}
    shown = _buttons(part.choices) if _are_buttons(part.choices) else _list(part.choices)
    return {"type": "interactive", "interactive": {"body": {"text": part.text}, **shown}}


def _header(account: Account, file: OutgoingFile | None) -> list[dict[str, Any]]:
    """The component for the file in a template's header, if it has one. The template determines
    the file's kind, so the file is never sent as a document instead."""
    if file is None:
        return []
    kind = _TYPES[file.kind]
    return [{"type": "header", "parameters": [{"type": kind, kind: _media(account, file, kind)}]}]


def _buttons(choices: Sequence[Choice]) -> dict[str, Any]:
    buttons = [
        {"type": "reply", "reply": {"id": choice.payload, "title": choice.title}}
        for choice in choices
    ]
    return {"type": "button", "action": {"buttons": buttons}}


def _list(choices: Sequence[Choice]) -> dict[str, Any]:
    rows = [{"id": choice.payload, "title": choice.title} for choice in choices]
    section = {"title": LIST_BUTTON, "rows": rows}
    return {"type": "list", "action": {"button": LIST_BUTTON, "sections": [section]}}


def _are_buttons(choices: Sequence[Choice]) -> bool:
    return len(choices) <= MAX_BUTTONS and _fit(choices, MAX_BUTTON_TITLE, MAX_BUTTON_PAYLOAD)


def _fit(choices: Sequence[Choice], title: int, payload: int) -> bool:
    """Whether all titles and payloads are distinct, not empty and short enough."""
    are_short = all(
        0 < len(choice.title) <= title and 0 < len(choice.payload) <= payload for choice in choices
    )
    titles = {choice.title for choice in choices}
    payloads = {choice.payload for choice in choices}
    return are_short and len(titles) == len(payloads) == len(choices)


def _of_file(part: Part, file: OutgoingFile) -> list[Part]:
    """The file with its caption; a text that cannot be a caption is sent before it."""
    if not part.text or (_has_caption(file) and len(part.text) <= MAX_CAPTION):
        return [part]
    return [*(Part(text=piece) for piece in text.split(part.text, MAX_TEXT)), Part(file=file)]


def _has_caption(file: OutgoingFile) -> bool:
    return _type_of(file) != "audio"


def _type_of(file: OutgoingFile) -> str:
    """The message type for a file. The size and MIME type of a linked file are unknown."""
    is_too_large = file.size_bytes > _MAX_BYTES.get(file.kind, file.size_bytes)
    is_other = bool(file.mime_type) and file.mime_type not in _MIMES.get(file.kind, set())
    return "document" if is_too_large or is_other else _TYPES[file.kind]


def _media(account: Account, file: OutgoingFile, kind: str, caption: str = "") -> dict[str, Any]:
    """The media object for a file: its URL, or the id of its upload if the file is in our store."""
    media: dict[str, Any] = {"link": file.url}
    if file.open:
        fields = {"messaging_product": "whatsapp", "type": file.mime_type}
        body = APP.call(
            "POST", f"{http.path_segment(account.id)}/media", token=account.token,
            form=http.multipart(fields, "file", file),
        ).body  # fmt: skip
        media = {"id": str(body.get("id") or "")}
    if caption:
        media["caption"] = caption
    if kind == "document" and file.file_name:
        media["filename"] = file.file_name
    return media
