"""The configuration of the app for reports and warnings about the rows of all other apps."""

from django.apps import AppConfig


class Config(AppConfig):
    name = "reports"

    def ready(self) -> None:
        from chats.services.core import report_hooks  # noqa: PLC0415 - models are loaded by now
        from reports.services import message_counts  # noqa: PLC0415

        report_hooks.stored_figures.install(message_counts)
