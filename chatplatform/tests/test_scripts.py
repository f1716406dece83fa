from playwright.sync_api import Page

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
