"""The configuration of the app."""

from django.apps import AppConfig


class ChannelsConfig(AppConfig):
    name = "channels_app"
    verbose_name = "Channels"

    def ready(self) -> None:
        from channels_app.services import outbox  # noqa: PLC0415 - models are loaded by now
        from chats.services.core import channel_hooks  # noqa: PLC0415

        channel_hooks.sender.install(outbox)
