"""The banner picture above the chat: checked, re-encoded, and served under a random name."""

import re
from datetime import datetime
from typing import IO, Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from bots.ingest import image_reencoding
from bots.models import Bot
from bots.services import bots
from bots.shapes.widget import (
    MAX_BANNER_BYTES,
    BannerUploadResponseDto,
    Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post,
    BotBannerDto,
)
from chatplatform import media
from chatplatform.api.errors import ApiError, Invalid, TooLarge
from identity.models import User

_SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}
_NAME = re.compile(r"[0-9a-f]{32}(\.png|\.jpg|\.webp)")


class NoBanner(ApiError):
    code, status = "no_banner", 409
    detail = "This bot has no banner. Upload an image first."


def upload(
    bot: Bot,
    *,
    body: Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post,
    by: User,
) -> BannerUploadResponseDto:
    """Replace the bot's banner."""
    image = _reencoded(body.file)
    stored = media.store("banners", ContentFile(image.data), suffix=_SUFFIXES[image.mime_type])
    try:
        _set(
            bot,
            "uploaded",
            by=by,
            banner=stored,
            banner_mime_type=image.mime_type,
            banner_width=image.width,
            banner_height=image.height,
            banner_size_bytes=len(image.data),
            banner_link=body.link,
            banner_alt=_one_line(body.alt),
            banner_valid_from=body.valid_from,
            banner_valid_to=body.valid_to,
        )
    except BaseException:
        default_storage.delete(stored)
        raise
    return BannerUploadResponseDto.copy_from(image, url=_url(stored), size_bytes=len(image.data))


def update(bot: Bot, *, body: BotBannerDto, by: User) -> BotBannerDto:
    """Change the named fields and keep the picture; 409 `no_banner` if there is none."""
    changes = {name: getattr(body, name) for name in body.model_fields_set}
    with transaction.atomic():
        locked = bots.lock(bot)
        if not locked.banner and any(changes.values()):
            raise NoBanner
        for name, value in changes.items():
            is_text = name in {"link", "alt"}
            setattr(locked, f"banner_{name}", _one_line(value or "") if is_text else value)
        begins, ends = locked.banner_valid_from, locked.banner_valid_to
        if begins and ends and begins >= ends:
            raise Invalid.field("body", "valid_to", msg="Must be after the start date.")
        locked.save(update_fields=[*(f"banner_{name}" for name in changes), "updated_at"])
        bots.record(bot, "banner.updated", by=by, fields=sorted(changes))
    return for_bot(locked)


def remove(bot: Bot, *, by: User) -> None:
    """Remove the banner, if there is one; its file is deleted after the commit."""
    if not bot.banner:
        return
    _set(
        bot,
        "removed",
        by=by,
        banner="",
        banner_mime_type="",
        banner_width=None,
        banner_height=None,
        banner_size_bytes=None,
        banner_link="",
        banner_alt="",
        banner_valid_from=None,
        banner_valid_to=None,
    )


def _set(bot: Bot, action: str, *, by: User, **fields: Any) -> None:
    with transaction.atomic():
        # With two concurrent uploads, the later one sees and removes the file of the earlier one.
        locked = bots.lock(bot)
        media.remove_later(bot.client_id, [locked.banner.name])
        for name, value in fields.items():
            setattr(locked, name, value)
        locked.save(update_fields=[*fields, "updated_at"])
        bots.record(bot, f"banner.{action}", by=by)


def _reencoded(file: Any) -> image_reencoding.Picture:
    if not isinstance(file, UploadedFile):
        raise Invalid.field("body", "file", msg="Send a file.")
    if (file.size or 0) > MAX_BANNER_BYTES:
        raise TooLarge(f"A banner can have up to {MAX_BANNER_BYTES:,} bytes.")
    try:
        return image_reencoding.reencode(file.read())
    except image_reencoding.ImageError as exc:
        raise Invalid.field("body", "file", msg=exc.message, type=exc.code) from exc


def for_bot(bot: Bot) -> BotBannerDto:
    """The bot's banner; its url is null if there is none."""
    has_banner = bool(bot.banner)
    return BotBannerDto(
        bot_id=bot.pk,
        url=_url(str(bot.banner.name)) if has_banner else None,
        link=(bot.banner_link or None) if has_banner else None,
        alt=(bot.banner_alt or None) if has_banner else None,
        valid_from=bot.banner_valid_from,
        valid_to=bot.banner_valid_to,
    )


def shown(bot: Bot, now: datetime) -> BotBannerDto:
    """The banner that a widget shows now; its url is null if there is none."""
    begins, ends = bot.banner_valid_from, bot.banner_valid_to
    if (begins and now < begins) or (ends and now >= ends):
        return BotBannerDto(bot_id=bot.pk)
    return for_bot(bot)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _url(name: str) -> str:
    return f"{settings.PUBLIC_URL.rstrip('/')}/media/{name}"


def open_stored(name: str) -> tuple[IO[bytes], str] | None:
    """A banner's open file and media type; None if there is no such banner."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    mime_type = next(
        mime_type for mime_type, suffix in _SUFFIXES.items() if suffix == match.group(1)
    )
    try:
        return default_storage.open(f"banners/{name}"), mime_type
    except FileNotFoundError:
        return None
