"""The configuration of the reports app: reports and warnings about the rows of all other apps."""

from django.apps import AppConfig


class Config(AppConfig):
    name = "reports"
