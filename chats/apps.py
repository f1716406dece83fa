"""The app's configuration."""

from django.apps import AppConfig


class ChatsConfig(AppConfig):
    name = "chats"

    def ready(self) -> None:
        from bots.services import chat_hooks  # noqa: PLC0415 - models are loaded by now
        from chats.services.core import presence  # noqa: PLC0415
        from chats.services.insight import cited_documents  # noqa: PLC0415

        chat_hooks.agents.install(presence)
        chat_hooks.document_usage.install(cited_documents)
