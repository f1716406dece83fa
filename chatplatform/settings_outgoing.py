"""The settings of calls to models, web pages and other servers; `settings.py` imports them."""

import json
import re

from chatplatform.environment import env


def _are_confidence_weights(text: str) -> bool:
    """Whether a text is JSON: three lists of four numbers each."""
    try:
        rows = json.loads(text)
        numbers = [[float(weight) for weight in row] for row in rows]
    except (TypeError, ValueError):
        return False
    return numbers == rows and [len(row) for row in numbers] == [4, 4, 4]


#: ## Model and training
#: An OpenAI-compatible [model server](models.md). Default: bots quote their documents.
LLM_BASE_URL = env.url("LLM_BASE_URL", default="")
#: The model server's key, and the name of the model.
LLM_API_KEY = env.text("LLM_API_KEY", default="")
LLM_MODEL = env.text("LLM_MODEL", default="")
if LLM_BASE_URL and not LLM_MODEL:
    env.fault("LLM_MODEL", "LLM_BASE_URL needs it. Write the model's name as its server has it.")
#: Whether the model [reads pictures](models.md#pictures-and-voice-notes), and the name of the
#: server's model that transcribes voice notes. Default: neither.
LLM_READS_PICTURES = env.flag("LLM_READS_PICTURES", default=False)
LLM_TRANSCRIPTION_MODEL = env.text("LLM_TRANSCRIPTION_MODEL", default="")
#: Seconds that the model has for one answer; after that, a quotation replaces the answer.
LLM_DEADLINE_SECONDS = env.decimal("LLM_DEADLINE_SECONDS", default=45, least=1)
#: An OpenAI-compatible [server of embeddings](models.md#an-encoder-of-your-own) for the search.
#: Default: the encoder that comes with the installation.
EMBEDDING_BASE_URL = env.url("EMBEDDING_BASE_URL", default="")
#: The server's key, the name of the encoder, and what `manage.py reindex --fit` prints, without
#: which the server is not used.
EMBEDDING_API_KEY = env.text("EMBEDDING_API_KEY", default="")
EMBEDDING_MODEL = env.text("EMBEDDING_MODEL", default="")
EMBEDDING_GATE = env.text("EMBEDDING_GATE", default="")
if EMBEDDING_BASE_URL and not EMBEDDING_MODEL:
    env.fault(
        "EMBEDDING_MODEL",
        "EMBEDDING_BASE_URL needs it. Write the encoder's name as its server has it.",
    )
if EMBEDDING_GATE and not _are_confidence_weights(EMBEDDING_GATE):
    env.fault("EMBEDDING_GATE", "it is not valid. Write what `manage.py reindex --fit` prints.")
#: A bot with more passages is searched with
#: [database indexes](decisions/0029-large-bots-are-searched-in-the-database.md), if PostgreSQL has
#: pgvector.
LARGE_BOT_PASSAGES = env.integer("LARGE_BOT_PASSAGES", default=20_000)
#: Seconds between two requests of a crawl.
CRAWL_DELAY_SECONDS = env.decimal("CRAWL_DELAY_SECONDS", default=0.5)
#: Seconds for one web page of a crawl, including redirects.
CRAWL_PAGE_SECONDS = env.decimal("CRAWL_PAGE_SECONDS", default=15, least=1)

#: ## Outgoing requests
#: Private `host:port` pairs that outgoing requests may reach, separated by commas;
#: `model=host:port` allows one for [one purpose](operations.md#addresses-inside) only.
#: Default: none.
EGRESS_ALLOW = env.entries("EGRESS_ALLOW", default=[])
for _entry in EGRESS_ALLOW:
    if not re.fullmatch(r"([a-z-]+=)?(\[[0-9A-Fa-f:.]+\]|[^:/=\s]+):\d{1,5}", _entry):
        env.fault("EGRESS_ALLOW", f"{_entry!r} is not host:port. Write model=10.0.0.5:8000.")
#: Public networks that no outgoing request may reach, separated by commas: your own networks with
#: public addresses, and your NAT64 prefixes. Default: none.
EGRESS_DENY = env.networks("EGRESS_DENY")
#: The URL of the [channel simulator](channel-simulator.md), to which pages link if `DEBUG` is on;
#: `make run` sets it. Default: no link.
SIMULATOR_URL = env.url("SIMULATOR_URL", default="")
#: Seconds for one attempt to deliver a webhook.
WEBHOOK_TIMEOUT_SECONDS = env.decimal("WEBHOOK_TIMEOUT_SECONDS", default=15, least=1)
#: How many webhooks are sent at the same time.
WEBHOOK_THREADS = env.integer("WEBHOOK_THREADS", default=64, least=1)
#: For tests of a deployment: divides the waits between attempts, and the days after which a failing
#: endpoint is switched off.
WEBHOOK_RETRY_SCALE = env.decimal("WEBHOOK_RETRY_SCALE", default=1, least=0.001)
