"""The simulated providers: consent, codes, and the tokens that they are exchanged for."""

from urllib.parse import urlencode

import pytest

from simulator import defaults
from simulator.client import Refused
from simulator.tests.calls import (
    BACK,
    OA,
    OTHER_PAGE,
    PAGE,
    PHOTO,
    WABA,
    Caller,
    caller,
    query_of,
)

APP = defaults.app("socialnet")
# The example of RFC 7636, appendix B.
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


@pytest.fixture
def at():
    with caller() as made:
        yield made


def exchange(at: Caller, app: str = "socialnet", **values: str):
    secrets = {
        "client_id": defaults.app(app).id,
        "client_secret": defaults.app(app).secret,
    }
    return at.graph("GET", f"oauth/access_token?{urlencode({**secrets, **values})}")


def code(at: Caller, **more) -> str:
    url = at.dialog("socialnet", redirect_uri=BACK, scope="pages_show_list,pages_messaging")
    return query_of(at.sim.consent(url, **more))["code"]


def test_who_allows_is_sent_back_with_a_code_and_the_state(at):
    url = at.dialog("socialnet", redirect_uri=BACK, scope="pages_show_list")
    back = at.sim.consent(url)
    assert back.startswith("https://platform.test/back?bot=7&code=")
    assert query_of(back)["state"] == "st 1"


def test_who_refuses_is_sent_back_without_a_code(at):
    back = at.sim.consent(at.dialog("socialnet", redirect_uri=BACK), allow=False)
    assert query_of(back) | {"error_description": ""} == {
        "bot": "7", "error": "access_denied", "error_reason": "user_denied",
        "error_description": "", "state": "st 1",
    }  # fmt: skip
    assert at.sim.control("GET", "tokens") == []


@pytest.mark.parametrize(
    "wrong", [{"client_id": "1"}, {"redirect_uri": ""}, {"redirect_uri": "javascript:alert(1)"}]
)
def test_a_dialog_that_is_wrong_shows_no_consent(at, wrong):
    url = at.dialog("socialnet", **{"redirect_uri": BACK, **wrong})
    assert at.call("GET", url.removeprefix(at.sim.origin)).status == 400


def test_only_the_addresses_of_the_apps_list_are_sent_to(at):
    at.sim.change_app("socialnet", redirect_uris=["https://platform.test/other"])
    url = at.dialog("socialnet", redirect_uri=BACK)
    assert at.call("GET", url.removeprefix(at.sim.origin)).status == 400


def test_a_code_gives_a_short_token_and_that_a_long_one(at):
    short = exchange(at, redirect_uri=BACK, code=code(at)).json
    assert (short["token_type"], short["expires_in"]) == ("bearer", 7200)
    long = exchange(at, grant_type="fb_exchange_token", fb_exchange_token=short["access_token"])
    assert long.json["expires_in"] == 60 * 86_400
    assert long.json["access_token"].startswith("EAA")


def test_a_code_is_good_once(at):
    used = code(at)
    assert exchange(at, redirect_uri=BACK, code=used).status == 200
    again = exchange(at, redirect_uri=BACK, code=used)
    assert (again.status, again.error) == (400, (100, 36009))


def test_a_code_expires(at):
    old = code(at)
    at.sim.advance(601)
    assert exchange(at, redirect_uri=BACK, code=old).error == (100, 36007)


def test_the_redirect_address_must_be_the_same_byte_for_byte(at):
    wrong = exchange(at, redirect_uri=f"{BACK}&", code=code(at))
    assert wrong.error == (100, 36008)


def test_the_secret_must_be_right(at):
    wrong = exchange(at, client_secret="guess", redirect_uri=BACK, code=code(at))
    assert (wrong.status, wrong.error) == (400, (1, None))
    assert at.sim.control("GET", "tokens") == []


def test_a_token_reaches_the_chosen_pages_and_permissions_alone(at):
    given = code(at, accounts=[OTHER_PAGE], without_scopes=("pages_messaging",))
    token = exchange(at, redirect_uri=BACK, code=given).json["access_token"]
    pages = at.graph("GET", "me/accounts?fields=id,access_token", token=token).json["data"]
    assert [page["id"] for page in pages] == [OTHER_PAGE]
    assert at.graph("GET", f"{PAGE}?fields=access_token", token=token).error == (100, 33)
    app_token = f"{APP.id}%7C{APP.secret}"
    seen = at.graph("GET", f"debug_token?input_token={token}&access_token={app_token}").json["data"]
    assert (seen["is_valid"], seen["scopes"]) == (True, ["pages_show_list"])
    assert seen["granular_scopes"] == [{"scope": "pages_show_list", "target_ids": [OTHER_PAGE]}]
    at.sim.control("POST", "act", {"account": OTHER_PAGE, "user": "an", "kind": "text"})
    user_id = at.sim.thread(OTHER_PAGE, "an")["user_id"]
    body = {"recipient": {"id": user_id}, "messaging_type": "RESPONSE", "message": {"text": "x"}}
    refused = at.graph("POST", "me/messages", body, pages[0]["access_token"])
    assert (refused.status, refused.error) == (403, (10, None))


@pytest.mark.parametrize(("kind", "life"), [("user_short", 3600), ("user_long", None)])
def test_a_page_token_lives_as_its_users_token_says(at, kind, life):
    user = at.sim.token("socialnet", kind=kind)
    token = at.graph("GET", f"{PAGE}?fields=access_token", token=user).json["access_token"]
    at.sim.advance(3601)
    answer = at.graph("GET", "me", token=token)
    if life is None:
        assert answer.json["id"] == PAGE
    else:
        assert (answer.status, answer.error) == (401, (190, 463))


@pytest.mark.parametrize(
    ("how", "subcode"), [("expired", 463), ("password", 460), ("revoked", 458), ("role", 492)]
)
def test_tokens_die_on_command_with_those_made_from_them(at, how, subcode):
    page_token = at.sim.token("socialnet", PAGE)
    assert at.sim.end_tokens(how, kind="user_long") == 1
    assert at.graph("GET", "me", token=page_token).error == (190, subcode)


def test_an_unknown_token_and_none_are_refused(at):
    assert at.graph("GET", "me", token="EAAguess").error == (190, None)
    assert at.graph("GET", "me").error == (104, None)


def test_a_permission_can_be_taken_away(at):
    token = at.sim.token("socialnet")
    at.sim.end_tokens(scope="pages_show_list")
    refused = at.graph("GET", "me/accounts", token=token)
    assert (refused.status, refused.error) == (403, (200, None))


def test_a_proof_is_checked_and_can_be_required(at):
    at.sim.simulator.world.issue(
        "user_long", APP.id, "5000000000000001", scopes=set(), targets=[], lifetime=None
    )
    token = at.sim.simulator.world.tokens.popitem()[1]
    token.value = "EAAtoken"
    at.sim.simulator.world.tokens["EAAtoken"] = token
    # printf EAAtoken | openssl dgst -sha256 -hmac socialnet-app-secret
    proof = "550d2cf7c1134027058a11f0082ae6ead5fb7f8b6bfc743b548d5594fb68cbca"
    at.sim.change_app("socialnet", requires_proof=True)
    assert at.graph("GET", "me", token="EAAtoken").error == (100, None)
    assert at.graph("GET", f"me?appsecret_proof={proof}", token="EAAtoken").status == 200
    assert at.graph("GET", "me?appsecret_proof=00", token="EAAtoken").error == (100, None)


def test_the_signup_of_chatapp_gives_a_code_of_30_seconds_without_an_address(at):
    url = at.dialog("chatapp", config_id="1", override_default_response_type="true")
    page = at.sim.consent(url)
    assert '"phone_number_id": "1122334455667"' in page
    assert f'"waba_id": "{WABA}"' in page
    given = page.partition('"code": "')[2].partition('"')[0]
    token = exchange(at, "chatapp", code=given).json
    assert token == {"access_token": token["access_token"], "token_type": "bearer"}
    late = at.sim.consent(url).partition('"code": "')[2].partition('"')[0]
    at.sim.advance(31)
    assert exchange(at, "chatapp", code=late).error == (100, 36007)


# photoapp, direct login


def direct_code(at: Caller) -> str:
    values = {"client_id": defaults.app("photoapp_direct").id, "redirect_uri": BACK}
    query = urlencode({**values, "response_type": "code", "state": "s"})
    url = f"{at.sim.origin}/direct-auth/oauth/authorize?{query}"
    return query_of(at.sim.consent(url, accounts=[PHOTO]))["code"]


def direct_exchange(at: Caller, given: str, **more: str):
    app = defaults.app("photoapp_direct")
    values = {
        "client_id": app.id, "client_secret": app.secret, "grant_type": "authorization_code",
        "redirect_uri": BACK, "code": given, **more,
    }  # fmt: skip
    return at.form("/direct-auth/oauth/access_token", values)


def test_direct_login_gives_an_hour_then_60_days_then_60_more(at):
    short = direct_exchange(at, direct_code(at)).json
    assert short["user_id"] == int(PHOTO)
    secret = defaults.app("photoapp_direct").secret
    path = f"/direct/access_token?grant_type=ig_exchange_token&client_secret={secret}"
    long = at.call("GET", path, token=short["access_token"]).json
    assert long["expires_in"] == 60 * 86_400
    renew = "/direct/refresh_access_token?grant_type=ig_refresh_token"
    assert at.call("GET", renew, token=long["access_token"]).error == (100, None)
    at.sim.advance(86_400)
    assert at.call("GET", renew, token=long["access_token"]).status == 200
    at.sim.advance(60 * 86_400)
    assert at.call("GET", renew, token=long["access_token"]).error == (190, 463)


def test_a_direct_code_is_good_once_for_one_address(at):
    given = direct_code(at)
    assert direct_exchange(at, given, redirect_uri="https://else.test/").status == 400
    assert direct_exchange(at, given).status == 200
    assert direct_exchange(at, given).status == 400


def test_a_direct_token_is_for_its_own_host_and_account(at):
    token = at.sim.token("photoapp_direct", PHOTO)
    fields = "fields=user_id,username,name,profile_picture_url,account_type"
    me = at.call("GET", f"/direct/v26.0/me?{fields}", token=token).json
    assert (me["user_id"], me["username"]) == (PHOTO, "blue.shop")
    page_token = at.sim.token("socialnet", PAGE)
    assert at.call("GET", "/direct/v26.0/me", token=page_token).error == (190, None)


# localapp


def local_code(at: Caller, **more: str) -> dict[str, str]:
    values = {"app_id": defaults.app("localapp").id, "redirect_uri": BACK, "state": "s",
              "code_challenge": CHALLENGE, **more}  # fmt: skip
    url = f"{at.sim.origin}/localapp-oauth/v4/oa/permission?{urlencode(values)}"
    return query_of(at.sim.consent(url))


def local_tokens(at: Caller, secret: str | None = None, **values: str):
    app = defaults.app("localapp")
    return at.form(
        "/localapp-oauth/v4/oa/access_token", {"app_id": app.id, **values},
        secret_key=secret or app.secret,
    )  # fmt: skip


def by_code(at: Caller, given: str, verifier: str = VERIFIER, secret: str | None = None):
    return local_tokens(
        at, secret, code=given, grant_type="authorization_code", code_verifier=verifier
    )


def test_localapp_gives_a_pair_for_a_code_with_its_verifier(at):
    back = local_code(at)
    assert (back["oa_id"], back["state"], back["bot"]) == (OA, "s", "7")
    answer = by_code(at, back["code"])
    assert (answer.status, answer.json["expires_in"]) == (200, "90000")
    me = at.localapp("GET", "/v2.0/oa/getoa", token=answer.json["access_token"]).json
    assert (me["error"], me["data"]["oa_id"]) == (0, OA)


def test_localapp_refuses_another_verifier_secret_or_a_used_code(at):
    given = local_code(at)["code"]
    assert by_code(at, given, VERIFIER[:-1]).json["error"] == -14010
    assert by_code(at, given, secret="guess").json["error"] == -14004
    assert by_code(at, given).json.get("error") is None
    assert by_code(at, given).json["error"] == -14006
    late = local_code(at)["code"]
    at.sim.advance(601)
    assert by_code(at, late).json["error"] == -14006


def test_a_refresh_gives_a_new_pair_once_and_kills_the_old_one(at):
    old = by_code(at, local_code(at)["code"]).json
    renew = {"grant_type": "refresh_token", "refresh_token": old["refresh_token"]}
    new = local_tokens(at, **renew).json
    assert new["access_token"] != old["access_token"]
    assert local_tokens(at, **renew).json["error"] == -14014
    assert at.localapp("GET", "/v2.0/oa/getoa", token=old["access_token"]).json["error"] == -216
    assert at.localapp("GET", "/v2.0/oa/getoa", token=new["access_token"]).json["error"] == 0


def test_localapp_tokens_expire(at):
    pair = by_code(at, local_code(at)["code"]).json
    at.sim.advance(90_001)
    assert at.localapp("GET", "/v2.0/oa/getoa", token=pair["access_token"]).json["error"] == -220
    at.sim.advance(90 * 86_400)
    renew = {"grant_type": "refresh_token", "refresh_token": pair["refresh_token"]}
    assert local_tokens(at, **renew).json["error"] == -14014


def test_who_refuses_localapp_is_sent_back_with_an_error(at):
    values = {"app_id": defaults.app("localapp").id, "redirect_uri": BACK,
              "code_challenge": CHALLENGE, "state": "s"}  # fmt: skip
    url = f"{at.sim.origin}/localapp-oauth/v4/oa/permission?{urlencode(values)}"
    back = query_of(at.sim.consent(url, allow=False))
    assert (back["error"], back["state"]) == ("-14002", "s")
    assert "code" not in back


def test_a_person_must_choose_an_account(at):
    with pytest.raises(Refused, match="choose at least one"):
        at.sim.consent(at.dialog("socialnet", redirect_uri=BACK), accounts=[])
