"""The picture above the chat: checked, re-encoded and served under a random name."""

import re
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from bots.knowledge import picture
from bots.models import Bot
from bots.services import bots
from bots.shapes.widget import (
    MAX_BANNER_BYTES,
    BannerUploadResponseDto,
    Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post,
    BotBannerDto,
)
from chatplatform import media
from chatplatform.api.errors import Invalid, TooLarge

_SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}
_NAME = re.compile(r"[0-9a-f]{32}(\.png|\.jpg|\.webp)")


def upload(
    bot: Bot, *, body: Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post
) -> BannerUploadResponseDto:
    """Replace the bot's banner."""
    image = _reencoded(body.file)
    stored = media.store("banners", ContentFile(image.data), suffix=_SUFFIXES[image.mime_type])
    try:
        _set(
            bot,
            banner=stored,
            banner_mime_type=image.mime_type,
            banner_width=image.width,
            banner_height=image.height,
            banner_size_bytes=len(image.data),
            banner_link=body.link,
            banner_alt=" ".join(body.alt.split()),
        )
    except BaseException:
        default_storage.delete(stored)
        raise
    return BannerUploadResponseDto.copy_from(image, url=_url(stored), size_bytes=len(image.data))


def _set(bot: Bot, **fields: Any) -> None:
    with transaction.atomic():
        # Of two concurrent uploads, the later one sees and removes the file of the earlier.
        locked = bots.lock(bot)
        media.remove_later(bot.client_id, [locked.banner.name])
        for name, value in fields.items():
            setattr(locked, name, value)
        locked.save(update_fields=[*fields, "updated_at"])


def _reencoded(file: Any) -> picture.Picture:
    if not isinstance(file, UploadedFile):
        raise Invalid.field("body", "file", msg="Send a file.")
    if (file.size or 0) > MAX_BANNER_BYTES:
        raise TooLarge(f"A banner has at most {MAX_BANNER_BYTES:,} bytes.")
    try:
        return picture.reencode(file.read())
    except picture.PictureError as exc:
        raise Invalid.field("body", "file", msg=exc.message, type=exc.code) from exc


def for_bot(bot: Bot) -> BotBannerDto:
    """The bot's banner; its url is null if there is none."""
    has_banner = bool(bot.banner)
    return BotBannerDto(
        bot_id=bot.pk,
        url=_url(str(bot.banner.name)) if has_banner else None,
        link=(bot.banner_link or None) if has_banner else None,
        alt=(bot.banner_alt or None) if has_banner else None,
    )


def _url(name: str) -> str:
    return f"{settings.PUBLIC_URL.rstrip('/')}/media/{name}"


def stored(name: str) -> tuple[Path, str] | None:
    """Path and type of a banner's file; None if there is no such banner."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    path = Path(default_storage.path(f"banners/{name}"))
    mime_type = next(
        mime_type for mime_type, suffix in _SUFFIXES.items() if suffix == match.group(1)
    )
    return (path, mime_type) if path.is_file() else None
