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


def test_an_uploaded_picture_is_read_after_the_web_thread_is_free(ann):
    picture = io.BytesIO()
    Image.new("RGB", (30, 10)).save(picture, "PNG")
    path = f"/ai/{make_bot(ann.client).pk}/upload-banner-image"
    with web() as port:
        status, banner = upload(port, path, ann.headers, picture.getvalue())
        assert (status, banner["width"]) == (200, 30)
        assert upload(port, path, ann.headers, b"x")[0] == 422
