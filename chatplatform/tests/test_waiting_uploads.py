"""Operations that wait can read the files of their request; on the real web server."""

import io

import httpx2
import pytest
from PIL import Image

from bots.testing import make_bot
from chatplatform.testing.web_process import web

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_uploaded_picture_is_read_after_the_web_thread_is_free(ann):
    picture = io.BytesIO()
    Image.new("RGB", (30, 10)).save(picture, "PNG")
    path = f"/ai/{make_bot(ann.client).pk}/upload-banner-image"
    with web() as port, httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as site:
        files = {"file": ("a.png", picture.getvalue(), "image/png")}
        response = site.post(path, headers=ann.headers, files=files)
        assert (response.status_code, response.json()["width"]) == (200, 30)
        wrong = site.post(path, headers=ann.headers, files={"file": ("a.png", b"x", "image/png")})
        assert wrong.status_code == 422
