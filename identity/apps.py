from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class Config(AppConfig):
    name = "identity"
    default = True


class SiteConfig(admin_apps.AdminConfig):
    """Django's admin site, with our sign-in and pages for every role."""

    default = False
    default_site = "identity.views.site.Site"
