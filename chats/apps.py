"""The app's configuration."""

from django.apps import AppConfig


class ChatsConfig(AppConfig):
    name = "chats"

    def ready(self) -> None:
        from bots.services import agent_presence  # noqa: PLC0415 - models are loaded by now
        from chats.services.core import presence  # noqa: PLC0415

        agent_presence.install(presence)
