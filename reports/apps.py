"""Reports and warnings about all lower apps."""

from django.apps import AppConfig


class Config(AppConfig):
    name = "reports"
