"""The configuration of the bots app."""

from django.apps import AppConfig


class BotsConfig(AppConfig):
    name = "bots"
    verbose_name = "Bots"

    def ready(self) -> None:
        from bots.services import bots, uploaded_pictures  # noqa: PLC0415 - needs loaded models
        from identity.services import bot_hooks, picture_hooks  # noqa: PLC0415

        bot_hooks.bots.install(bots)
        picture_hooks.pictures.install(uploaded_pictures)
