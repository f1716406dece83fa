"""Reports and warnings about all lower apps."""

from django.apps import AppConfig


class Config(AppConfig):
    name = "reports"

    def ready(self) -> None:
        from chats.services.data_exchange import erasing  # noqa: PLC0415 - models are loaded by now
        from reports.services import saved_reports  # noqa: PLC0415

        erasing.also_forget(saved_reports.forget)
