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


def test_a_text_has_the_plural_form_of_the_pages_language(screen: Page):
    screen.goto("/static/chatplatform/icon.svg")
    texts = screen.evaluate(
        """async () => {
            const say = async (name) => {
                const { t, tn } = await import(`/static/common/i18n.js?${name}`);
                const form = (count) => tn("{count} chat", "{count} chats", count);
                return [...[1, 2, 5].map(form), t("Hello {name}", { name: "Zo\u202ee" })];
            };
            const english = await say("english");
            globalThis.catalogue = {
                plural: (n) => Number(n == 1 ? 0 : n < 5 ? 1 : 2),
                texts: { "{count} chat": ["{count} czat", "{count} czaty", "{count} czatów"] },
            };
            return [english, await say("polish")];
        }"""
    )
    assert texts == [
        ["1 chat", "2 chats", "5 chats", "Hello Zoe"],
        ["1 czat", "2 czaty", "5 czatów", "Hello Zoe"],
    ]
