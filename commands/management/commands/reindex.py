"""`manage.py reindex [--fit] [--client CODE]`: encode passages without vectors of their client's
encoder.

With --fit, the confidence weights of remote encoders are fitted first, and those of the operator's
encoder are printed.
"""

import json
from argparse import ArgumentParser
from dataclasses import replace
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from bots.engine.remote_encoder import RemoteEncoder
from bots.language.embedding import EncoderDown
from bots.models import LanguageModel, ModelPurpose
from bots.search import confidence_calibration
from bots.services import encoders, reindexing
from commands.client_rows import client_by_code
from identity.models import Client


class Command(BaseCommand):
    help = "Encode passages anew after a change of the encoder; fit its confidence."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--client", help="the client's code; left out: all clients")
        fit_help = "fit the confidence weights of remote encoders"
        parser.add_argument("--fit", action="store_true", help=fit_help)

    def handle(self, *args: Any, **options: Any) -> None:
        code = options["client"]
        clients = [client_by_code(code)] if code else list(Client.objects.order_by("pk"))
        if options["fit"]:
            try:
                self._fit(clients, is_for_all=not code)
            except EncoderDown as error:
                raise CommandError(str(error)) from error
        for client in clients:
            with transaction.atomic():
                encoders.enqueue_reindex(client.pk)
        self.stdout.write(f"Queued for {len(clients)} clients.")

    def _fit(self, clients: Any, *, is_for_all: bool) -> None:
        rows = LanguageModel.objects.filter(client__in=clients, purpose=ModelPurpose.EMBEDDINGS)
        for row in rows:
            reindexing.fit(row)
            row.refresh_from_db()
            self._show(row.client.code, encoders.of_row(row))
        operators = encoders.of_operator() if is_for_all else None
        if operators:
            weights = confidence_calibration.fit(operators)
            self._show("the operator's", replace(operators, confidence_weights=weights))
            self.stdout.write(f"EMBEDDING_GATE={json.dumps(weights)}")

    def _show(self, whose: str, encoder: RemoteEncoder) -> None:
        right, false = confidence_calibration.measure(encoder)
        self.stdout.write(
            f"{whose}, {encoder.model}: of a company held out, {right:.0%} of the questions are"
            f" answered rightly, and {false:.0%} of those without an answer are answered."
        )
