"""`manage.py openapi`: prints the OpenAPI document; `make openapi` stores it in docs/."""

import json
from typing import Any

from django.core.management.base import BaseCommand

from chatplatform.web.health import document


class Command(BaseCommand):
    help = "Print the OpenAPI document."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(json.dumps(document(), indent=2, ensure_ascii=False))
