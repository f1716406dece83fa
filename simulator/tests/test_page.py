"""The customers' page of the simulator in a browser, from the consent to a chat."""

from urllib.parse import parse_qs, urlencode, urlsplit

from simulator import defaults
from simulator.tests.calls import PAGE, caller


def test_a_person_allows_and_writes_as_a_customer(browser):
    with caller() as at:
        context = browser.new_context()
        context.set_default_timeout(15_000)
        problems = []
        context.on("weberror", lambda error: problems.append(str(error.error)))
        page = context.new_page()
        query = {"client_id": defaults.app("socialnet").id, "redirect_uri": f"{at.sim.origin}/"}
        page.goto(f"{at.sim.origin}/www/dialog/oauth?{urlencode({**query, 'state': 'st'})}")
        page.get_by_role("button", name="Allow").click()
        page.wait_for_url(f"{at.sim.origin}/?*")
        (code,) = parse_qs(urlsplit(page.url).query)["code"]
        page.locator("#notice", has_text=code).wait_for()
        page.locator("#connect").wait_for()
        at.sim.subscribe(PAGE)
        page.locator("#connect").wait_for(state="hidden")
        page.get_by_label("Message", exact=True).fill("hello")
        page.get_by_role("button", name="Send", exact=True).click()
        mine = page.locator(".message.customer")
        page.on("dialog", lambda dialog: dialog.accept("goodbye"))
        mine.get_by_role("button", name="edit").click()
        mine.get_by_text("goodbye").wait_for()
        page.get_by_label("Something else").select_option("postback")
        page.get_by_role("button", name="Do it").click()
        mine.first.get_by_role("button", name="unsend").click()
        mine.get_by_text("unsent").wait_for()
        context.close()
        message = at.sim.thread(PAGE, "an")["messages"][0]
        assert (message["is_deleted"], problems) == (True, [])
        sent = [body["entry"][0]["messaging"][0] for body in at.events()]
    assert [
        next(name for name in ("message", "message_edit", "postback") if name in item)
        for item in sent
    ] == ["message", "message_edit", "postback", "message"]
