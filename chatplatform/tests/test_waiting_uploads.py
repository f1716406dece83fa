"""Operations that wait can read the files of their request; on the real web server."""

import http.client
import io
import json
from contextlib import closing

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from PIL import Image

from bots.testing import make_bot
from chatplatform.testing.web_process import web

pytestmark = pytest.mark.django_db(transaction=True)


def upload(port, path, headers, data):
    body = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("a.png", data, "image/png")})
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("POST", path, body, {**headers, "Content-Type": MULTIPART_CONTENT})
        response = connection.getresponse()
        return response.status, json.load(response)


def png(picture):
    data = io.BytesIO()
    picture.save(data, "PNG")
    return data.getvalue()


@pytest.mark.full
def test_an_uploaded_picture_is_read_after_the_web_thread_is_free(ann):
    path = f"/ai/{make_bot(ann.client).pk}/upload-banner-image"
    on_disk = png(Image.effect_noise((1500, 1000), 90))
    assert 1_000_000 < len(on_disk) < 5_000_000
    with web() as port:
        for picture, width in ((png(Image.new("RGB", (30, 10))), 30), (on_disk, 1500)):
            status, banner = upload(port, path, ann.headers, picture)
            assert (status, banner.get("width")) == (200, width)
        assert upload(port, path, ann.headers, b"x")[0] == 422
