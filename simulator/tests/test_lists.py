"""The simulated providers: lists with cursors, subscriptions, reading back."""

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from simulator import defaults
from simulator.tests.calls import (
    NUMBER,
    OA,
    OTHER_PAGE,
    PAGE,
    PHOTO,
    WABA,
    Caller,
    caller,
)
from simulator.world import Json


@pytest.fixture
def at():
    with caller() as made:
        yield made


def all_pages(at: Caller, path: str, token: str) -> list[list[Json]]:
    """Every page of a list, by following `next` until it is missing."""
    answer = at.graph("GET", path, token=token).json
    pages = [answer["data"]]
    while following := answer.get("paging", {}).get("next"):
        url = urlsplit(following)
        answer = at.call("GET", f"{url.path}?{url.query}").json
        pages.append(answer["data"])
    return pages


def test_pages_are_listed_by_cursors_until_next_is_missing(at):
    at.sim.add_accounts("page", 7)
    fields = "id,name,access_token,tasks,picture{url},instagram_business_account{id,username}"
    pages = all_pages(at, f"me/accounts?fields={fields}&limit=4", at.sim.token("photoapp"))
    assert [len(page) for page in pages] == [4, 4, 2]
    rows = [row for page in pages for row in page]
    assert len({row["id"] for row in rows}) == 10
    assert rows[0]["instagram_business_account"] == {"id": PHOTO, "username": "blue.shop"}
    assert rows[0]["picture"]["data"]["url"].endswith("/page.png")
    assert "instagram_business_account" not in rows[2]
    assert len({row["access_token"] for row in rows}) == 10


def test_the_provider_may_give_shorter_pages_than_asked_for(at):
    at.sim.limits(page_size=2)
    pages = all_pages(at, "me/accounts?limit=100", at.sim.token("socialnet"))
    assert [len(page) for page in pages] == [2, 1]


def test_a_list_goes_back_by_the_cursor_before(at):
    token = at.sim.token("socialnet")
    second = at.graph("GET", "me/accounts?limit=1", token=token).json["paging"]
    after = second["cursors"]["after"]
    page = at.graph("GET", f"me/accounts?limit=1&after={after}", token=token).json
    assert page["data"][0]["id"] == OTHER_PAGE
    before = page["paging"]["cursors"]["before"]
    first = at.graph("GET", f"me/accounts?limit=1&before={before}", token=token).json
    assert first["data"][0]["id"] == PAGE
    assert at.graph("GET", "me/accounts?after=guess", token=token).error == (100, None)


def test_a_linked_account_is_hidden_without_its_permission(at):
    path = "me/accounts?fields=id,instagram_business_account"
    rows = at.graph("GET", path, token=at.sim.token("socialnet")).json["data"]
    assert rows[0] == {"id": PAGE}


def test_business_accounts_and_numbers_are_listed(at):
    token = at.sim.token("chatapp")
    path = f"{defaults.BUSINESS_ID}/owned_whatsapp_business_accounts"
    assert [each["id"] for each in at.graph("GET", path, token=token).json["data"]] == [
        WABA, "102290129340399",
    ]  # fmt: skip
    fields = "fields=id,display_phone_number,verified_name,quality_rating,platform_type"
    numbers = at.graph("GET", f"{WABA}/phone_numbers?{fields}", token=token).json["data"]
    assert numbers[0] == {
        "id": NUMBER, "display_phone_number": "+842855550001", "verified_name": "Blue Shop",
        "quality_rating": "GREEN", "platform_type": "CLOUD_API",
    }  # fmt: skip


def test_an_unknown_version_is_refused_and_none_is_taken(at):
    token = at.sim.token("socialnet")
    assert at.call("GET", "/graph/v99.0/me", token=token).error == (2500, None)
    assert at.call("GET", "/graph/me", token=token).status == 200
    assert at.call("GET", "/graph/v24.0/me", token=token).status == 200


# Subscriptions


def test_a_page_is_subscribed_shown_and_unsubscribed(at):
    token, path = at.sim.token("socialnet", PAGE), f"{PAGE}/subscribed_apps"
    body = {"subscribed_fields": ["messages", "message_echoes"]}
    assert at.graph("POST", path, body, token).json == {"success": True}
    app = at.graph("GET", path, token=token).json["data"][0]
    assert (app["id"], app["subscribed_fields"]) == ("900000001", ["messages", "message_echoes"])
    assert at.graph("DELETE", path, token=token).json == {"success": True}
    assert at.graph("GET", path, token=token).json == {"data": []}


def test_an_unknown_field_another_page_or_a_persons_token_is_refused(at):
    token = at.sim.token("socialnet", PAGE)
    path = f"{PAGE}/subscribed_apps"
    assert at.graph("POST", path, {"subscribed_fields": "messages,x"}, token).error == (100, None)
    other = f"{OTHER_PAGE}/subscribed_apps"
    assert at.graph("POST", other, {"subscribed_fields": "messages"}, token).error == (100, 33)
    person = at.sim.token("socialnet")
    assert at.graph("POST", path, {"subscribed_fields": "messages"}, person).error == (210, None)
    assert at.graph("GET", path, token=token).json == {"data": []}


def test_events_go_only_for_subscribed_fields(at):
    token = at.sim.token("socialnet", PAGE)
    at.written(PAGE)
    assert at.events() == []
    at.graph("POST", f"{PAGE}/subscribed_apps", {"subscribed_fields": "messages"}, token)
    at.written(PAGE)
    at.sim.act(PAGE, "an", "postback")
    assert len(at.events()) == 1
    assert at.sim.state()["skipped"] == {
        f"{PAGE}: messages: nobody is subscribed": 1,
        f"{PAGE}: messaging_postbacks: nobody is subscribed": 1,
    }


def test_a_business_account_may_have_a_callback_of_its_own_after_the_plain_call(at):
    token, path = at.sim.token("chatapp"), f"{WABA}/subscribed_apps"
    own = {"override_callback_uri": "https://own.test/hook", "verify_token": "v"}
    assert at.graph("POST", path, own, token).error == (100, None)
    assert at.graph("POST", path, {}, token).json == {"success": True}
    assert at.graph("POST", path, own, token).json == {"success": True}
    row = at.graph("GET", path, token=token).json["data"][0]
    assert row["whatsapp_business_api_data"]["id"] == "900000004"
    at.written(NUMBER)
    at.events()
    assert at.platform.got[-1][1] == "https://own.test/hook"


def test_an_address_that_fails_the_handshake_is_not_taken(at):
    token = at.sim.token("chatapp")
    at.graph("POST", f"{WABA}/subscribed_apps", {}, token)
    own = {"override_callback_uri": "https://own.test/hook", "verify_token": "v"}
    for status, challenge in ((403, None), (200, b"something else")):
        at.platform.statuses, at.platform.challenge = [status], challenge
        assert at.graph("POST", f"{WABA}/subscribed_apps", own, token).error == (2200, None)
    row = at.graph("GET", f"{WABA}/subscribed_apps", token=token).json["data"][0]
    assert "override_callback_uri" not in row


def test_an_apps_webhook_is_set_by_its_own_token(at):
    app = defaults.app("socialnet")
    own_token = f"access_token={app.id}%7C{app.secret}"
    values = {"object": "instagram", "callback_url": "https://p.test/photo", "verify_token": "v",
              "fields": "messages,messaging_seen"}  # fmt: skip
    path = f"{app.id}/subscriptions?{own_token}"
    assert at.form(f"/graph/v26.0/{path}", values).json == {"success": True}
    hooks = {hook["object"]: hook for hook in at.graph("GET", path).json["data"]}
    assert hooks["instagram"]["callback_url"] == "https://p.test/photo"
    person = at.sim.token("socialnet")
    assert at.graph("GET", f"{app.id}/subscriptions", token=person).error == (15, None)


def test_the_handshake_sends_what_the_platform_must_return(at):
    assert at.sim.handshake("photoapp")["is_accepted"]
    method, url, _, _ = at.platform.got[-1]
    query = parse_qs(url.partition("?")[2])
    assert (method, query["hub.mode"]) == ("GET", ["subscribe"])
    assert query["hub.verify_token"] == ["photoapp-verify-token"]
    assert len(query["hub.challenge"][0]) == 10
    at.platform.statuses = [403]
    refused = at.sim.handshake("photoapp", verify_token="guess")
    assert (refused["is_accepted"], refused["problem"]) == (False, "HTTP status 403")


def test_localapps_probe_is_an_unsigned_post(at):
    assert at.sim.handshake("localapp")["is_accepted"]
    method, url, headers, body = at.platform.got[-1]
    assert (method, url, body) == ("POST", "http://platform.test/localapp/callback", b"{}")
    assert headers == {"Content-Type": "application/json"}
    at.platform.statuses = [404]
    assert not at.sim.handshake("localapp")["is_accepted"]


# Reading back


def test_conversations_and_their_messages_are_read_with_nested_fields(at):
    token = at.page()
    for user in ("an", "binh", "chris"):
        for number in range(3):
            at.written(PAGE, user, f"{user} {number}")
            at.sim.advance(1)
    fields = "id,updated_time,participants,messages.limit(2){id,message,from}"
    query = urlencode({"platform": "messenger", "fields": fields, "limit": 2})
    pages = all_pages(at, f"{PAGE}/conversations?{query}", token)
    assert [len(page) for page in pages] == [2, 1]
    newest = pages[0][0]
    assert [row["message"] for row in newest["messages"]["data"]] == ["chris 2", "chris 1"]
    assert newest["participants"]["data"][0]["name"] == "Chris Miller"
    assert newest["updated_time"].endswith("+0000")
    following = urlsplit(newest["messages"]["paging"]["next"])
    rest = at.call("GET", f"{following.path}?{following.query}").json
    assert [row["message"] for row in rest["data"]] == ["chris 0"]
    assert "next" not in rest["paging"]


def test_a_thread_is_found_by_its_customer_and_a_message_by_its_id(at):
    token = at.page()
    user_id = at.written(PAGE, "an")
    at.written(PAGE, "binh")
    path = f"{PAGE}/conversations?platform=messenger&user_id={user_id}&fields=id,messages"
    rows = at.graph("GET", path, token=token).json["data"]
    assert len(rows) == 1
    message_id = rows[0]["messages"]["data"][0]["id"]
    fields = "id,created_time,from,to,message"
    message = at.graph("GET", f"{message_id}?fields={fields}", token=token).json
    assert (message["message"], message["from"]["id"]) == ("hi", user_id)
    assert message["to"]["data"] == [
        {"id": PAGE, "name": "Blue Shop", "email": f"{PAGE}@facebook.com"}
    ]
    assert at.graph("GET", message_id, token=at.sim.token("socialnet", OTHER_PAGE)).error == (
        100, 33,
    )  # fmt: skip


def test_photoapp_has_details_of_the_20_newest_messages_alone(at):
    token = at.sim.token("photoapp", PHOTO)
    ids = [at.sim.act(PHOTO, "an", "text", text=str(n))["message_id"] for n in range(21)]
    assert at.graph("GET", f"{ids[-1]}?fields=message", token=token).json["message"] == "20"
    assert at.graph("GET", ids[0], token=token).error == (100, 33)
    path = f"{PAGE}/conversations?platform=instagram&fields=participants"
    people = at.graph("GET", path, token=token).json["data"][0]["participants"]["data"]
    assert people[0]["username"] == "an"
    assert people[1] == {"id": PHOTO, "username": "blue.shop"}


def test_a_customers_id_differs_on_each_page_and_gives_the_profile(at):
    token = at.page()
    here, there = at.written(PAGE), at.written(OTHER_PAGE)
    assert here != there
    profile = at.graph("GET", f"{here}?fields=first_name,last_name,name", token=token).json
    assert profile == {"id": here, "first_name": "An", "last_name": "Tran", "name": "An Tran"}
    assert at.graph("GET", there, token=token).error == (100, 33)


def test_a_photoapp_profile_needs_a_message_first(at):
    token = at.sim.token("photoapp", PHOTO)
    thread = at.sim.thread(PHOTO, "an")
    assert at.graph("GET", thread["user_id"], token=token).error == (230, None)
    at.written(PHOTO)
    fields = "fields=username,is_verified_user"
    assert at.graph("GET", f"{thread['user_id']}?{fields}", token=token).json["username"] == "an"


def test_localapp_reads_back_its_customers_and_messages(at):
    token = at.sim.tokens("localapp")["access_token"]
    user_id = at.written(OA, "an", "xin chào")
    at.written(OA, "binh", "hello")
    one = at.localapp("GET", f'/v3.0/oa/user/detail?data={{"user_id":"{user_id}"}}', token=token)
    assert one.json["data"]["display_name"] == "An Tran"
    assert len(user_id) == 19
    query = urlencode({"data": f'{{"user_id":{user_id},"offset":0,"count":10}}'})
    rows = at.localapp("GET", f"/v2.0/oa/conversation?{query}", token=token).json["data"]
    assert [(row["src"], row["message"], row["from_id"]) for row in rows] == [
        (1, "xin chào", user_id)
    ]
    recent = at.localapp("GET", '/v2.0/oa/listrecentchat?data={"offset":0,"count":1}', token=token)
    assert len(recent.json["data"]) == 1
    much = at.localapp("GET", '/v2.0/oa/listrecentchat?data={"offset":0,"count":11}', token=token)
    assert much.json["error"] == -210
    users = at.localapp("GET", "/v3.0/oa/user/getlist", token=token).json["data"]
    assert users["total"] == 2
