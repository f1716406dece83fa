"""Split messages to customers into parts, and build the bodies of the calls that send them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from channels_app.providers import http, text
from channels_app.providers.errors import Kind, ProviderError
from channels_app.providers.localapp.client import call
from channels_app.providers.types import Account, OutgoingFile, Part

MAX_TEXT = 2000  # characters
MAX_CHOICES, MAX_TITLE = 5, 100
_MEGABYTE = 1_000_000
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
# By MIME type: the upload endpoint, the maximum size in bytes, and the required extension.
_UPLOADS = {
    "image/jpeg": ("image", _MEGABYTE, "jpg"),
    "image/png": ("image", _MEGABYTE, "png"),
    "image/gif": ("gif", 5 * _MEGABYTE, "gif"),
    "application/pdf": ("file", 5 * _MEGABYTE, "pdf"),
    "application/msword": ("file", 5 * _MEGABYTE, "doc"),
    _DOCX: ("file", 5 * _MEGABYTE, "docx"),
}


def parts(content: Sequence[Part]) -> list[Part]:
    """Split texts at the limit. Captions become separate texts, and linked files other than images
    become links in a text."""
    planned = list[Part]()
    for part in content:
        if part.file and (part.file.open or part.file.kind == "image"):
            planned += [*_texts(Part(text=part.text)), Part(file=part.file)]
        elif part.file:
            lines = [line for line in (part.text, part.file.url) if line]
            planned += _texts(Part(text="\n".join(lines)))
        else:
            planned += _texts(part)
    return planned


def _texts(part: Part) -> list[Part]:
    """The pieces of a text. Choices follow the last piece, or become lines of the text."""
    as_lines = text.as_lines(part.text, part.choices)
    fits = (
        len(part.choices) <= MAX_CHOICES
        and all(0 < len(choice.title) <= MAX_TITLE for choice in part.choices)
        # The choices must also fit as lines, which are sent if the provider refuses the buttons.
        and len(as_lines) <= MAX_TEXT
        and bool(part.text.strip())
    )
    return text.with_choices(part, MAX_TEXT, fits=fits)


def message(account: Account, part: Part) -> dict[str, Any]:
    """The `message` of the call that sends a part. Uploads its file if it is in our store."""
    if part.file:
        return {"attachment": _attachment(account, part.file)}
    body: dict[str, Any] = {"text": part.text}
    if part.choices:
        buttons = [
            {"title": choice.title, "type": "oa.query.show", "payload": choice.payload}
            for choice in part.choices
        ]
        body["attachment"] = {"type": "template", "payload": {"buttons": buttons}}
    return body


def _attachment(account: Account, file: OutgoingFile) -> dict[str, Any]:
    """The attachment for an image's URL, or for a file from our store, which is uploaded."""
    if not file.open:
        return _media({"media_type": "image", "url": file.url})
    if file.mime_type not in _UPLOADS:
        raise ProviderError(Kind.REQUEST, "This channel accepts JPEG, PNG, GIF, PDF, DOC and DOCX.")
    kind, limit, extension = _UPLOADS[file.mime_type]
    name = file.file_name if "." in file.file_name else f"{file.file_name or kind}.{extension}"
    form = http.multipart({}, "file", replace(file, file_name=name))
    if len(form[1]) > limit:
        megabytes = limit // _MEGABYTE
        raise ProviderError(Kind.REQUEST, f"This channel accepts such files up to {megabytes} MB.")
    answer = call("POST", f"v2.0/oa/upload/{kind}", token=account.token, form=form)
    # The provider uses one of these two keys.
    file_id = answer.data.get("token") or answer.data.get("attachment_id")
    if not file_id:
        raise ProviderError(Kind.TEMPORARY, "The provider's response contains no upload id.")
    if kind == "file":
        return {"type": "file", "payload": {"token": str(file_id)}}
    return _media({"media_type": kind, "attachment_id": str(file_id)})


def _media(element: dict[str, Any]) -> dict[str, Any]:
    payload = {"template_type": "media", "elements": [element]}
    return {"type": "template", "payload": payload}
