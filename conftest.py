"""Fixtures of the whole suite: three people, and the world they share."""

from chatplatform.testing import *  # noqa: F403
