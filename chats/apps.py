"""The configuration of the app."""

from django.apps import AppConfig


class ChatsConfig(AppConfig):
    name = "chats"

    def ready(self) -> None:
        from chats.services.core import channel_hooks  # noqa: PLC0415 - models are loaded by now
        from chats.services.reply import incoming  # noqa: PLC0415

        channel_hooks.install_receiver(incoming)
