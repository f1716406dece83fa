"""The settings of logs, metrics and traces; `settings.py` imports them."""

from chatplatform.environment import env

#: ## Logs, metrics and traces
#: `DEBUG`, `INFO`, `WARNING` or `ERROR`.
LOG_LEVEL = env.choice("LOG_LEVEL", ("DEBUG", "INFO", "WARNING", "ERROR"), default="WARNING")
#: `line`, or `json` for an object per line.
LOG_FORMAT = env.choice("LOG_FORMAT", ("line", "json"), default="line")
#: The port on which this process and its children serve [metrics](operations.md#metrics) for
#: Prometheus; `make run` takes one per process, from this one on. 0: no metrics.
# It is never the site's port, because metrics are not public.
METRICS_PORT = env.integer("METRICS_PORT", default=0, most=65535)
#: The IP address on which metrics are served.
METRICS_HOST = env.text("METRICS_HOST", default="127.0.0.1")
# Functions that yield readings; the relay calls them when it is scraped.
METRIC_READERS = (
    "chatplatform.jobs.infrastructure_metrics.read",
    "webhooks.services.backlog_metrics.read",
    "identity.services.credit_metrics.read",
)
#: An OpenTelemetry collector (OTLP over HTTP) that gets [traces](operations.md#traces). Default:
#: no traces.
TRACES_URL = env.url("TRACES_URL", default="")
#: The share of requests and jobs that is traced, 0 to 1.
TRACES_SHARE = env.decimal("TRACES_SHARE", default=1.0, most=1)
#: The name of this process in traces; the launcher and the deployments set it.
TRACES_NAME = env.text("TRACES_NAME", default="chatplatform")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "request_id": {"()": "chatplatform.api.request_context.RequestIdFilter"},
        "outages": {"()": "chatplatform.observing.outage_logging.OncePerMinute"},
    },
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s %(request_id)s %(message)s"},
        "json": {"()": "chatplatform.observing.json_logs.JsonFormatter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["request_id", "outages"],
        }
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # At INFO, httpx2 logs the URL of each call, and some providers' URLs contain a token.
    "loggers": {"httpx2": {"level": "WARNING"}},
}
