from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps
from django.core.checks import Tags, register


class Config(AppConfig):
    name = "identity"
    default = True

    def ready(self) -> None:
        from identity.services import audit_chain  # noqa: PLC0415 - it imports models

        register(audit_chain.check_role, Tags.security)


class SiteConfig(admin_apps.AdminConfig):
    """Replaces Django's admin site with our own, which has its own sign-in and views for every
    role."""

    default = False
    default_site = "identity.pages.admin_site.Site"
