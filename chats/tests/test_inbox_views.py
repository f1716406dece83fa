"""Get Inbox Views, Save Inbox View, Delete Inbox View: the views of the inbox that people keep."""

import pytest

from identity.models import AuditEvent, Role, SavedView
from identity.services import saved_views
from identity.testing import make_person

PATH = "/ai/chat/views"
LATE = {"name": "Late", "query": "view=unassigned&min_wait_seconds=900"}


def names(person):
    return [row["name"] for row in person.get(PATH).json()["items"]]


def test_a_view_is_ones_own_until_it_is_shared(ben, ann, cara):
    kept = ben.post(PATH, LATE).json()
    assert kept == LATE | {"is_shared": False, "id": kept["id"], "may_delete": True}
    assert (names(ben), names(ann)) == (["Late"], [])
    again = ben.post(PATH, LATE | {"query": "view=all", "is_shared": True}).json()
    assert (again["id"], again["query"]) == (kept["id"], "view=all")
    assert (names(ann), names(cara)) == (["Late"], [])
    assert [row["may_delete"] for row in ann.get(PATH).json()["items"]] == [True]


def test_a_view_is_deleted_by_whom_it_belongs_to_or_by_an_admin(ben, bea, ann, cara):
    ids = [ben.post(PATH, LATE | {"name": name, "is_shared": True}).json()["id"] for name in "ab"]
    assert [row["may_delete"] for row in bea.get(PATH).json()["items"]] == [False, False]
    assert bea.delete(f"{PATH}/{ids[0]}").status_code == 403
    assert cara.delete(f"{PATH}/{ids[0]}").status_code == 404
    assert SavedView.objects.count() == 2
    assert ben.delete(f"{PATH}/{ids[0]}").status_code == 204
    assert ann.delete(f"{PATH}/{ids[1]}").status_code == 204
    assert not SavedView.objects.exists()
    actions = AuditEvent.objects.filter(action__startswith="saved_view.").values_list("action")
    assert len(actions) == 4, "shared ones are everybody's business"


def test_a_view_of_the_sites_lists_is_none_of_the_inbox(ben):
    saved_views.save(ben.user, "chats.conversation", name="x", query="", is_shared=False)
    row = SavedView.objects.get()
    assert names(ben) == []
    assert ben.delete(f"{PATH}/{row.pk}").status_code == 404
    assert SavedView.objects.exists()


@pytest.mark.parametrize("change", [{"name": ""}, {"name": "x" * 61}, {"query": "x" * 2001}])
def test_nonsense_keeps_nothing(ben, change):
    assert ben.post(PATH, LATE | change).status_code == 422
    assert not SavedView.objects.exists()


def test_there_are_not_too_many(ben):
    for number in range(saved_views.MAX_VIEWS):
        assert ben.post(PATH, LATE | {"name": f"{number}"}).status_code == 200
    refused = ben.post(PATH, LATE)
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_views")
    assert ben.post(PATH, LATE | {"name": "0", "query": "view=all"}).status_code == 200


def test_a_viewer_keeps_views_too(client_a):
    viewer = make_person(client_a, Role.VIEWER, "Vic")
    kept = viewer.post(PATH, LATE).json()
    assert viewer.delete(f"{PATH}/{kept['id']}").status_code == 204
