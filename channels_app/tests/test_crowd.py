"""A small crowd of callbacks on each channel, in disorder; `drills/` has the large one."""

import pytest

from channels_app.tests import crowd

pytestmark = pytest.mark.django_db(transaction=True)


def test_socialnet(socialnet, page, ben):
    crowd.run(socialnet, ben, 12)


def test_photoapp(photoapp, account, ben):
    crowd.run(photoapp, ben, 12)


def test_localapp(localapp, oa, ben):
    crowd.run(localapp, ben, 12)


def test_chatapp(chatapp, number, ben):
    crowd.run(chatapp, ben, 12)
