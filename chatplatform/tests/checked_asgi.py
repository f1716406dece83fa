"""The web process of the tests: the product's, with its answers compared with the document."""

from chatplatform.asgi import application as served
from chatplatform.testing.documented import CheckedApplication

application = CheckedApplication(served)
