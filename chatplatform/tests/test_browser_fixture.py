"""The browser's fixture notices what a person would see go wrong."""


def test_a_broken_page_is_noticed(screen, problems):
    screen.goto("/no/such/path")
    screen.evaluate("console.error('oops'); setTimeout(() => { throw new Error('thrown') })")
    screen.evaluate("fetch('http://127.0.0.1:9/').catch(() => null)")
    screen.wait_for_timeout(100)
    seen = " ".join(problems)
    for part in ("404 GET", "console: oops", "script: thrown", "elsewhere: http://127.0.0.1:9/"):
        assert part in seen, (part, problems)
    problems.clear()
