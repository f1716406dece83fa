"""The customers' page of the simulator in a browser, and the pages around a consent."""

import json
import re
import shlex
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from channels_app.tests.helpers import PAGE
from chatplatform.testing.browser import PHONE
from simulator.tests.calls import NUMBER, OA, PHOTO, Caller, caller


@pytest.fixture
def at() -> Iterator[Caller]:
    with caller() as made:
        yield made


@pytest.fixture
def visit(at: Caller, browser: Browser) -> Iterator[Page]:
    """A page at the simulator; the test fails on an error in it."""
    context = browser.new_context(base_url=at.sim.origin)
    context.set_default_timeout(15_000)
    problems: list[str] = []
    context.on("weberror", lambda error: problems.append(str(error.error)))
    visited = context.new_page()
    yield visited
    context.close()
    assert problems == []


def write(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_role("button", name="Send", exact=True).click()


def texts(at: Caller, account: str, user: str = "an") -> list[str]:
    return [message["text"] for message in at.sim.thread(account, user)["messages"]]


def test_an_account_that_is_not_connected_shows_how_to_connect_it(at, visit):
    visit.goto("/")
    help_ = visit.get_by_label("Connect the account")
    help_.get_by_text("it does not learn what you write here").wait_for()
    assert f'"{at.sim.origin}/back/socialnet"' in help_.locator("pre").nth(1).inner_text()
    at.sim.subscribe(PAGE)
    visit.get_by_text("Connected. Nothing was written yet").wait_for()
    assert help_.is_hidden()


def test_the_signup_of_chatapp_is_a_link_and_ends_with_a_command(at, visit):
    visit.goto("/#chatapp")
    with visit.expect_popup() as opened:
        visit.get_by_role("link", name="Open the signup").click()
    signup = opened.value
    signup.get_by_role("button", name="Allow").click()
    command = signup.locator("pre").inner_text()
    assert "/chatapp/1/connect/1 " in command
    assert f'"phone_number_id": "{NUMBER}"' in command
    signup.get_by_role("link", name="To the customers' page").click()
    assert signup.url.endswith(f"/#chatapp/{NUMBER}")


@pytest.mark.parametrize("channel", ["socialnet", "photoapp", "chatapp", "localapp"])
def test_everything_fits_on_a_phone(visit, channel):
    visit.set_viewport_size(PHONE)
    visit.goto(f"/#{channel}")
    visit.get_by_label("Connect the account").wait_for()
    wide = "document.documentElement.scrollWidth"
    assert visit.evaluate(wide) <= PHONE["width"]
    write(visit, "a" * 300)
    visit.locator(".message.customer").wait_for()
    assert visit.evaluate(wide) <= PHONE["width"]
    assert visit.get_by_role("button", name="Do it").is_visible()
    visit.get_by_role("button", name="Log").click()
    visit.get_by_text("The platform has called nothing on this channel yet.").wait_for()
    assert not visit.get_by_label("Message", exact=True).is_visible()


def test_what_a_customer_does_in_the_page_happens(at, visit):
    at.sim.subscribe(PAGE)
    visit.goto("/")
    write(visit, "hello\nthere")
    mine = visit.locator(".message.customer")
    visit.on("dialog", lambda dialog: dialog.accept("goodbye"))
    mine.get_by_role("button", name="edit").click()
    mine.get_by_text("goodbye").wait_for()
    assert texts(at, PAGE) == ["goodbye"]
    mine.get_by_role("button", name="unsend").click()
    mine.get_by_text("unsent").wait_for()
    assert at.sim.thread(PAGE, "an")["messages"][0]["is_deleted"]


def test_what_goes_wrong_is_said_in_words(at, visit):
    at.sim.subscribe(PAGE)
    visit.goto("/")
    visit.get_by_label("Something else").select_option("read")
    visit.get_by_role("button", name="Do it").click()
    visit.get_by_text("That did not work: no such message").wait_for()
    write(visit, "hi")
    visit.locator(".message.customer").wait_for()
    assert visit.locator("#notice").inner_text() == ""


def test_two_customers_whose_names_have_no_latin_letters_are_two(at, visit):
    visit.goto("/")
    visit.locator("#user option").first.wait_for(state="attached")
    names = iter(["李", "王"])
    visit.on("dialog", lambda dialog: dialog.accept(next(names)))
    for name in ("李", "王"):
        visit.get_by_role("button", name="New customer").click()
        visit.locator("#user option", has_text=name).wait_for(state="attached")
    assert [each["name"] for each in at.sim.state()["customers"]][-2:] == ["李", "王"]


# Consent


def test_who_comes_back_with_a_code_gets_the_commands_that_go_on(at):
    back = f"{at.sim.origin}/back/photoapp"
    url = at.sim.consent(at.dialog("photoapp", redirect_uri=back, scope="instagram_basic"))
    body = read(at, url)
    assert "one step is left" in body
    commands = commands_of(body)
    assert [command[2] for command in commands] == [
        "$API/photoapp/1/connect/1", "$API/photoapp/1/connect_page/1",
    ]  # fmt: skip
    handed = json.loads(commands[0][commands[0].index("-d") + 1])
    assert handed["redirect_uri"] == back
    assert handed["state"] == "st 1"
    assert handed["code"] in url
    assert f'"/#photoapp/{PHOTO}"' in body


@pytest.mark.parametrize(("query", "words"), [
    ("error=access_denied&error_description=Permissions+error", "Permissions error"),
    ("error=%3Cscript%3E", "&lt;script&gt;"),
    (f"status=connected&account_id={OA}", f'"/#localapp/{OA}"'),
    ("code=made-up&state=x", "no code that is still good"),
])  # fmt: skip
def test_who_comes_back_otherwise_reads_what_became_of_it(at, query, words):
    body = read(at, f"{at.sim.origin}/back/localapp?{query}")
    assert words in body
    assert "curl" not in body


def test_nobody_comes_back_from_a_channel_that_is_not_there(at):
    assert at.call("GET", "/back/other?code=x").status == 404


def read(at: Caller, url: str) -> str:
    answer = at.call("GET", url.removeprefix(at.sim.origin))
    assert answer.status == 200
    return answer.body.decode()


def commands_of(body: str) -> list[list[str]]:
    """The words of each command on a page, as a shell splits them."""
    found = re.search("<pre>(.*?)</pre>", body, re.DOTALL)
    assert found
    text = found[1].replace("&quot;", '"').replace("&#x27;", "'").replace("&amp;", "&")
    return [shlex.split(line) for line in text.splitlines()]
