"""The messaging channels: customers who write through socialnet, photoapp, chatapp and localapp."""

from django.apps import AppConfig


class Config(AppConfig):
    name = "channels_app"
