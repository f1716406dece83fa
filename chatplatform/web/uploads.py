"""Parses multipart bodies."""

from typing import IO, Any, cast

from django.conf import global_settings
from django.core.files.uploadhandler import FileUploadHandler, load_handler
from django.http import QueryDict
from django.http.multipartparser import MultiPartParser
from django.utils.datastructures import MultiValueDict


class _Parser(MultiPartParser):
    def sanitize_file_name(self, file_name: str) -> str:
        return super().sanitize_file_name(file_name) or "file"


class UnnamedFileHandler(FileUploadHandler):
    """Keeps a file whose name is unusable, such as `..`. Django would drop the file, and the files
    after it would move up by one position."""

    def handle_raw_input(
        self,
        input_data: IO[bytes],
        META: dict[str, str],  # noqa: N803 - Django's name
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> tuple[QueryDict, MultiValueDict[str, Any]]:
        names = global_settings.FILE_UPLOAD_HANDLERS
        handlers = [load_handler(name, self.request) for name in names]
        return _Parser(META, cast(Any, input_data), handlers, encoding).parse()
