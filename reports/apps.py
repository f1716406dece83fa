"""Reports and warnings over everything below."""

from django.apps import AppConfig


class Config(AppConfig):
    name = "reports"
