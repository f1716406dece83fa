"""`manage.py channel_simulator`: the messaging providers, simulated, on one port."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from channels_app.simulator import __main__ as simulator


class Command(BaseCommand):
    help = "Serve simulated messaging providers, with a page to write as a customer."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        simulator.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        simulator.run(options, lambda line: self.stdout.write(line, ending=""))
