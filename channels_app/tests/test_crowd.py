"""A small crowd of callbacks on each channel, in disorder; `drills/` has the large one."""

import pytest

from channels_app.tests import crowd

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]


def test_socialnet(socialnet, page, ben):
    crowd.run(socialnet, ben, 12)


def test_localapp(localapp, oa, ben):
    crowd.run(localapp, ben, 4)  # its bodies hold one event each


def test_chatapp(chatapp, number, ben):
    crowd.run(chatapp, ben, 4)
