"""Create Prompt, Get Current Prompt, Get Prompt Versions, Restore Prompt Version."""

import functools

import pytest

from bots.models import Prompt
from chatplatform.testing import at_once
from identity.models import Role
from identity.testing import make_person


def path(bot):
    return f"/ai/{bot.pk}/train/prompt"


def test_a_new_version_replaces_the_current(ann, bot):
    first = ann.post(path(bot), {"content": "Be kind", "tone": "warm", "temperature": 0.5})
    assert first.status_code == 200
    assert first.json()["version"] == 1
    second = ann.post(path(bot), {"content": "Be brief", "language": "en"}).json()
    assert (second["version"], second["is_current"]) == (2, True)
    assert second["created_by"] == ann.user.pk
    assert second["tone"] is None
    assert ann.get(path(bot)).json() == second
    old = Prompt.objects.get(version=1)
    assert (old.content, old.tone, old.temperature, old.is_current) == (
        "Be kind", "warm", 0.5, False,
    )  # fmt: skip


def test_old_versions_stay_readable(ann, cara, bot):
    first = ann.post(path(bot), {"content": "Be kind"}).json()
    second = ann.post(path(bot), {"content": "Be brief"}).json()
    assert ann.get(path(bot), {"version": 1}).json() == {**first, "is_current": False}
    assert ann.get(path(bot), {"version": 2}).json() == second
    assert ann.get(path(bot), {"version": 3}).status_code == 404
    assert cara.get(path(bot), {"version": 1}).status_code == 404
    for wrong in ("0", "x", str(2**31)):
        assert ann.get(path(bot), {"version": wrong}).status_code == 422


def test_a_bot_without_a_prompt(ann, bot):
    assert ann.get(path(bot)).status_code == 404
    assert ann.get(path(bot), {"version": 1}).status_code == 404


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"content": ""},
        {"content": " "},
        {"content": "x" * 20_001},
        {"content": "x", "temperature": 2.1},
        {"content": "x", "language": "?"},
    ],
)
def test_a_wrong_body(ann, bot, wrong):
    assert ann.post(path(bot), wrong).status_code == 422
    assert not Prompt.objects.exists()


def test_nobody(bot, nobody):
    assert nobody.get(path(bot)).status_code == 401
    assert nobody.post(path(bot), {"content": "x"}).status_code == 401


@pytest.mark.django_db(transaction=True)
def test_concurrent_prompts_get_different_versions(ann, bot):
    def write(text):
        return ann.post(path(bot), {"content": text}).status_code

    assert at_once(*[functools.partial(write, f"text {n}") for n in range(4)]) == [200] * 4
    assert sorted(Prompt.objects.values_list("version", flat=True)) == [1, 2, 3, 4]
    assert Prompt.objects.get(is_current=True).version == 4


def test_every_version_is_listed_newest_first(ann, bot):
    written = [ann.post(path(bot), {"content": f"text {n}"}).json() for n in range(3)]
    first = ann.get(f"{path(bot)}/versions", {"limit": 2}).json()
    assert [item["version"] for item in first["items"]] == [3, 2]
    assert first["items"][0] == written[2]
    rest = ann.get(f"{path(bot)}/versions", {"cursor": first["next_cursor"]}).json()
    assert rest == {"items": [{**written[0], "is_current": False}], "next_cursor": None}


def test_an_earlier_version_is_restored_as_a_new_one(ann, bot):
    body = {"content": "Be kind", "tone": "warm", "language": "en", "model": "m-1"}
    first = ann.post(path(bot), {**body, "temperature": 0.5}).json()
    ann.post(path(bot), {"content": "Be brief"})
    adam = make_person(ann.client, Role.ADMIN, "Adam")
    reply = adam.post(f"{path(bot)}/versions/1/restore")
    assert reply.status_code == 200
    restored = reply.json()
    assert (restored["version"], restored["is_current"]) == (3, True)
    assert restored["created_by"] == adam.user.pk  # type: ignore[union-attr]
    own = {"id", "version", "is_current", "created_by", "created_at"}
    assert {name: restored[name] for name in set(first) - own} == {
        name: first[name] for name in set(first) - own
    }
    assert ann.get(path(bot)).json() == restored
    assert ann.get(path(bot), {"version": 1}).json() == {**first, "is_current": False}


def test_restoring_the_current_version_changes_nothing(ann, bot):
    first = ann.post(path(bot), {"content": "Be kind"}).json()
    assert ann.post(f"{path(bot)}/versions/1/restore").json() == first
    assert Prompt.objects.count() == 1
