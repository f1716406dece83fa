"""The browser's fixture notices what a person would see go wrong."""

ELSEWHERE = "fetch('http://127.0.0.1:9/').catch(() => null)"


def test_a_broken_page_is_noticed(screen, problems):
    screen.goto("/no/such/path")
    screen.evaluate("console.error('oops'); setTimeout(() => { throw new Error('thrown') })")
    screen.evaluate(ELSEWHERE)
    screen.wait_for_timeout(100)
    seen = " ".join(problems)
    for part in ("404 GET", "console: oops", "script: thrown", "Content Security Policy"):
        assert part in seen, (part, problems)
    problems.clear()


def test_a_request_to_elsewhere_is_noticed(screen, problems):
    # A page's policy refuses it before it is sent; an answer of the API has none.
    screen.goto("/health/live")
    assert problems == []
    screen.evaluate(ELSEWHERE)
    screen.wait_for_timeout(100)
    assert "elsewhere: http://127.0.0.1:9/" in problems
    problems.clear()
