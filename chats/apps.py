"""The app's configuration."""

from django.apps import AppConfig


class ChatsConfig(AppConfig):
    name = "chats"

    def ready(self) -> None:
        from bots.services import (  # noqa: PLC0415 - models are loaded by now
            agent_hooks,
            document_usage_hooks,
        )
        from chats.services.core import presence  # noqa: PLC0415
        from chats.services.insight import cited_documents  # noqa: PLC0415

        agent_hooks.install(presence)
        document_usage_hooks.install(cited_documents)
