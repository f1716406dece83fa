import gc

from django.apps import AppConfig
from django.core.checks import Tags, register


class Config(AppConfig):
    name = "chatplatform"

    def ready(self) -> None:
        from chatplatform import checks  # noqa: PLC0415 - it reads settings

        register(checks.limits_in_order, "chatplatform")
        register(checks.payment_secret, "chatplatform")
        register(checks.push_key, "chatplatform")
        register(checks.egress_purposes, "chatplatform")
        register(checks.deployment, Tags.security)
        register(checks.channels, Tags.security)
        register(checks.static_files, Tags.security, deploy=True)
        register(checks.field_keys, Tags.security)
        # Objects loaded so far are never freed, so the garbage collector may skip them. It was
        # disabled in `settings.py`.
        gc.freeze()
        gc.enable()
