"""A real nginx with TLS in front, by the sample of docs/operations.md, and `DEBUG` off."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from drills.nginx import nginx, trust
from drills.platform import Platform, free_port, wait_until

PASSWORD = "correct-horse-battery"
TEXT = (
    b"# Shop\n\n## Hours\n\nOur shop opens at nine o'clock in the morning, from Monday to Saturday."
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The public address, and the folder of nginx with its certificate."""
    folder, port = tmp_path_factory.mktemp("proxy"), free_port()
    address = f"https://localhost:{port}"
    platform = Platform(
        folder, DEBUG="false", SECRET_KEY="drill" * 12, ALLOWED_HOSTS="localhost",
        PUBLIC_URL=address, TRUSTED_PROXIES="127.0.0.1", REGISTRATION_OPEN="true",
        EMAIL_URL="consolemail://",
    )  # fmt: skip
    try:
        with nginx(folder, port, [f"127.0.0.1:{platform.port}"]):
            with caller((address, folder), "127.0.0.1") as someone:
                wait_until(lambda: someone.get("/health/live").status_code == 200, what="nginx")
                company = {"company_name": "Acme", "full_name": "Ann Lee"}
                who = company | {"email": "ann@acme.example", "password": PASSWORD}
                assert someone.post("/identity/register-trial", json=who).status_code == 202
                # Without a mail server the worker prints its mails.
                mailed = re.compile(r"confirm/#token=([\w-]+)")
                log = Path(platform.log.name)
                wait_until(lambda: mailed.search(log.read_text()), what="the mailed link")
                token = mailed.findall(log.read_text())[0]
                proof = {"token": token, "password": PASSWORD}
                assert someone.post("/identity/confirm-registration", json=proof).is_success
            yield address, folder
    finally:
        platform.stop()


def caller(site: tuple[str, Path], address: str) -> httpx2.Client:
    """A caller from a given address; Linux accepts all of 127.0.0.0/8."""
    url, folder = site
    transport = httpx2.HTTPTransport(local_address=address, verify=trust(folder))
    return httpx2.Client(base_url=url, timeout=90, transport=transport)


def sign_in(person: httpx2.Client, email: str, password: str) -> int:
    return person.post(
        "/identity/token2", data={"username": email, "password": password}
    ).status_code


def test_people_sign_in_to_the_site(site: tuple[str, Path]) -> None:
    with caller(site, "127.0.0.2") as browser:
        page = browser.get("/admin/login/")
        assert page.headers["Strict-Transport-Security"].startswith("max-age=31536000")
        found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
        assert found, page.text
        form = {"username": "ann@acme.example", "password": PASSWORD, "next": "/admin/"}
        form["csrfmiddlewaretoken"] = found[1]
        foreign = browser.post(
            "/admin/login/", data=form, headers={"Origin": "https://evil.example"}
        )
        assert foreign.status_code == 403
        entered = browser.post("/admin/login/", data=form, headers={"Origin": site[0]})
        assert (entered.status_code, entered.headers["Location"]) == (302, "/admin/")
        assert browser.get("/admin/").status_code == 200
        assert all(cookie.secure for cookie in browser.cookies.jar)


def test_a_file_is_uploaded_and_an_answer_streamed(site: tuple[str, Path]) -> None:
    with caller(site, "127.0.0.2") as person:
        form = {"username": "ann@acme.example", "password": PASSWORD}
        token = person.post("/identity/token2", data=form).json()["access_token"]
        ann = {"Authorization": f"Bearer {token}"}
        bot = person.post("/ai/bot", json={"bot_name": "Shop"}, headers=ann).json()["id"]
        path = f"/ai/{bot}/train/document"
        sent = {"files": ("shop.md", TEXT + b"\n" + b" " * 3_000_000, "text/markdown")}
        assert person.post(path, files=sent, headers=ann).status_code in {200, 201, 202}
        wait_until(
            lambda: person.get(path, headers=ann).json()["items"][0]["status"] == "trained",
            what="the document",
        )
        asked = {"name": "Server", "scope": "secret", "bot_id": bot}
        key = person.post("/identity/api-keys", json=asked, headers=ann).json()["key"]
        chat = person.post("/ai/client/chat", json={}, headers={"API-KEY": key}).json()["id"]
        question = {"text": "When does the shop open?", "reply": "stream"}
        path, headers = f"/ai/client/chat/{chat}", {"API-KEY": key}
        with person.stream("POST", path, json=question, headers=headers) as stream:
            pieces = [piece for piece in stream.iter_text() if piece]
        assert len(pieces) > 1, "the answer came in one piece: somebody buffered it"
        assert "nine o'clock" in "".join(pieces)


def test_a_hundred_bad_sign_ins_lock_their_own_address_alone(site: tuple[str, Path]) -> None:
    with caller(site, "127.0.0.3") as bad, caller(site, "127.0.0.4") as good:
        spoofed = {"X-Forwarded-For": "127.0.0.4"}
        for number in range(100):
            form = {"username": f"nobody-{number}@acme.example", "password": "x"}
            reply = bad.post("/identity/token2", data=form, headers=spoofed)
            assert reply.status_code == 401
        assert sign_in(bad, "ann@acme.example", PASSWORD) == 429
        assert sign_in(good, "ann@acme.example", PASSWORD) == 200
