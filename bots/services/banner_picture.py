"""The banner picture above the chat."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_noop

from bots.models import Bot
from bots.schemas.widget import (
    BannerUploadResponseDto,
    Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post,
    BotBannerDto,
)
from bots.services import bots, uploaded_pictures
from chatplatform import media
from chatplatform.api.errors import ApiError, Invalid
from identity.models import User


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
    with uploaded_pictures.stored(body.file) as picture:
        _set(
            bot,
            "uploaded",
            by=by,
            banner=picture.name,
            banner_mime_type=picture.mime_type,
            banner_width=picture.width,
            banner_height=picture.height,
            banner_size_bytes=picture.size_bytes,
            banner_link=body.link,
            banner_alt=_one_line(body.alt),
            banner_valid_from=body.valid_from,
            banner_valid_to=body.valid_to,
        )
    return BannerUploadResponseDto.copy_from(picture)


def update(bot: Bot, *, body: BotBannerDto, by: User) -> BotBannerDto:
    """Change the fields that the request sets, and keep the picture.

    409 `no_banner` if there is no picture and the request sets any value; 422 if the period would
    not end after it begins.
    """
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
            raise Invalid.field(
                "body", "valid_to", msg=gettext_noop("Must be after the start date.")
            )
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


def for_bot(bot: Bot) -> BotBannerDto:
    """The bot's banner; its `url` is null if there is none."""
    has_banner = bool(bot.banner)
    return BotBannerDto(
        bot_id=bot.pk,
        url=media.public_url(str(bot.banner.name)) if has_banner else None,
        link=(bot.banner_link or None) if has_banner else None,
        alt=(bot.banner_alt or None) if has_banner else None,
        valid_from=bot.banner_valid_from,
        valid_to=bot.banner_valid_to,
    )


def current_banner(bot: Bot, now: datetime) -> BotBannerDto:
    """The banner that a widget shows at `now`; its `url` is null if there is none."""
    begins, ends = bot.banner_valid_from, bot.banner_valid_to
    if (begins and now < begins) or (ends and now >= ends):
        return BotBannerDto(bot_id=bot.pk)
    return for_bot(bot)


def _one_line(text: str) -> str:
    return " ".join(text.split())
