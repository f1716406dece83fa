"""The picture above the chat: checked, drawn anew, served under a name that cannot be guessed."""

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
    bot: Bot, *, given: Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post
) -> BannerUploadResponseDto:
    """Give the bot a new banner; the one before goes."""
    drawn = _drawn(given.file)
    stored = media.store("banners", ContentFile(drawn.data), suffix=_SUFFIXES[drawn.mime_type])
    try:
        _set(
            bot,
            banner=stored,
            banner_mime_type=drawn.mime_type,
            banner_width=drawn.width,
            banner_height=drawn.height,
            banner_size_bytes=len(drawn.data),
            banner_link=given.link,
            banner_alt=" ".join(given.alt.split()),
        )
    except BaseException:
        default_storage.delete(stored)
        raise
    return BannerUploadResponseDto(
        url=_url(stored),
        mime_type=drawn.mime_type,
        width=drawn.width,
        height=drawn.height,
        size_bytes=len(drawn.data),
    )


def _set(bot: Bot, **fields: Any) -> None:
    with transaction.atomic():
        # Two uploads at once: the later one sees, and removes, what the earlier one stored.
        locked = bots.lock(bot)
        media.remove_later(bot.client_id, [locked.banner.name])
        for name, value in fields.items():
            setattr(locked, name, value)
        locked.save(update_fields=[*fields, "updated_at"])


def _drawn(file: Any) -> picture.Picture:
    if not isinstance(file, UploadedFile):
        raise Invalid.field("body", "file", msg="Send a file.")
    if (file.size or 0) > MAX_BANNER_BYTES:
        raise TooLarge(f"A banner has at most {MAX_BANNER_BYTES:,} bytes.")
    try:
        return picture.reencode(file.read())
    except picture.PictureError as exc:
        raise Invalid.field("body", "file", msg=exc.message, type=exc.code) from exc


def for_bot(bot: Bot) -> BotBannerDto:
    """The bot's banner; its url is null where it has none."""
    has_one = bool(bot.banner)
    return BotBannerDto(
        bot_id=bot.pk,
        url=_url(str(bot.banner.name)) if has_one else None,
        link=(bot.banner_link or None) if has_one else None,
        alt=(bot.banner_alt or None) if has_one else None,
    )


def _url(name: str) -> str:
    return f"{settings.PUBLIC_URL.rstrip('/')}/media/{name}"


def stored(name: str) -> tuple[Path, str] | None:
    """Where a banner's file lies, and its type; None for whatever is not a banner's name."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    path = Path(default_storage.path(f"banners/{name}"))
    mime_type = next(kind for kind, suffix in _SUFFIXES.items() if suffix == found.group(1))
    return (path, mime_type) if path.is_file() else None
