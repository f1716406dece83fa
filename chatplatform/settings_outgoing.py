"""The settings of calls to models, web pages and other servers; `settings.py` imports them."""

import environ

env = environ.Env()  # type: ignore[no-untyped-call]
#: ## Model and training
#: An OpenAI-compatible [model server](models.md). Default: bots quote their documents.
LLM_BASE_URL = env.str("LLM_BASE_URL", default="")
#: The model server's key, and the name of the model.
LLM_API_KEY = env.str("LLM_API_KEY", default="")
LLM_MODEL = env.str("LLM_MODEL", default="")
#: Whether the model [reads pictures](models.md#pictures-and-voice-notes), and the name of the
#: server's model that transcribes voice notes. Default: neither.
LLM_READS_PICTURES = env.bool("LLM_READS_PICTURES", default=False)
LLM_TRANSCRIPTION_MODEL = env.str("LLM_TRANSCRIPTION_MODEL", default="")
#: Seconds that the model has for one answer; after that a quotation replaces it.
LLM_DEADLINE_SECONDS = env.float("LLM_DEADLINE_SECONDS", default=45)
#: An OpenAI-compatible [server of embeddings](models.md#an-encoder-of-your-own) for the search.
#: Default: the encoder that comes with the installation.
EMBEDDING_BASE_URL = env.str("EMBEDDING_BASE_URL", default="")
#: Its key, the name of the encoder, and what `manage.py reindex --fit` prints; it is not used
#: without.
EMBEDDING_API_KEY = env.str("EMBEDDING_API_KEY", default="")
EMBEDDING_MODEL = env.str("EMBEDDING_MODEL", default="")
EMBEDDING_GATE = env.str("EMBEDDING_GATE", default="")
#: A bot with more passages is searched by
#: [indexes of the database](decisions/0029-large-bots-are-searched-in-the-database.md), if
#: PostgreSQL has pgvector.
LARGE_BOT_PASSAGES = env.int("LARGE_BOT_PASSAGES", default=20_000)
#: Seconds between two requests of a crawl.
CRAWL_DELAY_SECONDS = env.float("CRAWL_DELAY_SECONDS", default=0.5)
#: Seconds for one web page of a crawl, redirects included.
CRAWL_PAGE_SECONDS = env.float("CRAWL_PAGE_SECONDS", default=15)

#: ## Outgoing requests
#: Private `host:port` pairs that outgoing requests may reach, separated by commas;
#: `model=host:port` opens one for [one purpose](operations.md#addresses-inside) only.
#: Default: none.
EGRESS_ALLOW = env.list("EGRESS_ALLOW", default=[])
#: Seconds for one attempt to deliver a webhook.
WEBHOOK_TIMEOUT_SECONDS = env.float("WEBHOOK_TIMEOUT_SECONDS", default=15)
#: How many webhooks are sent at once.
WEBHOOK_THREADS = env.int("WEBHOOK_THREADS", default=64)
#: For tests of a deployment: divides the waits between attempts, and the days after which a failing
#: endpoint is switched off.
WEBHOOK_RETRY_SCALE = env.float("WEBHOOK_RETRY_SCALE", default=1)
