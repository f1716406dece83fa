from playwright.sync_api import Page

from chatplatform.testing.browser import violations

HOSTILE = "<img src=x onerror=alert(1)>"


def test_what_stands_in_a_template_is_text(screen: Page):
    screen.goto("/static/chatplatform/icon.svg")  # a page without a policy for scripts
    shown = screen.evaluate(
        """async (words) => {
            const { html } = await import("/static/common/html.js");
            const { render } = await import("/static/vendor/preact.js");
            const place = document.createElement("div");
            render(html`<p title=${words}>${words}</p>`, place);
            return [place.children.length, place.textContent, place.querySelectorAll("img").length];
        }""",
        HOSTILE,
    )
    assert shown == [1, HOSTILE, 0]


def test_axe_core_names_what_shuts_people_out(screen: Page):
    screen.goto("/")
    assert violations(screen) == []
    screen.evaluate("document.body.append(document.createElement('button'))")
    assert violations(screen) == ["button-name: <button></button>"]
