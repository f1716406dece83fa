"""Fixtures of the whole suite: three people, and the world they share."""

from bots.testing import *  # noqa: F403
from chatplatform.testing import *  # noqa: F403
from chatplatform.testing.browser import *  # noqa: F403
from chatplatform.testing.metrics_scraping import counts  # noqa: F401
from chatplatform.testing.migrated_database_dump import *  # noqa: F403
from chatplatform.testing.web_process import outside_ports, site_port, web_port  # noqa: F401
from identity.testing import *  # noqa: F403
from simulator.testing import sim  # noqa: F401
from webhooks.testing import *  # noqa: F403
