"""Files in a bucket of an S3-compatible store. AWS's own environment variables hold the store's URL
and credentials (AWS_ENDPOINT_URL_S3, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from typing import Any

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.files import File
from storages.backends.s3 import S3Storage

from chatplatform import cpu_slots
from chatplatform.media_stores import FilesUnavailable
from chatplatform.observing import metrics

log = logging.getLogger(__name__)
# A fetched file with more bytes is held in a temporary file instead of in memory.
_MAX_BYTES_IN_MEMORY = 5_000_000


class Bucket(S3Storage):
    """The store in `MEDIA_BUCKET`; raises FilesUnavailable if a call to the store fails."""

    bucket_name: str

    def get_default_settings(self) -> dict[str, Any]:
        is_elsewhere = "AWS_ENDPOINT_URL_S3" in os.environ or "AWS_ENDPOINT_URL" in os.environ
        defaults: dict[str, Any] = super().get_default_settings()
        return defaults | {
            "bucket_name": settings.MEDIA_BUCKET,
            "max_memory_size": _MAX_BYTES_IN_MEMORY,
            "transfer_config": TransferConfig(use_threads=False),
            "client_config": Config(
                connect_timeout=2,
                read_timeout=settings.MEDIA_TIMEOUT_SECONDS,
                retries={"mode": "standard", "total_max_attempts": 2},
                # Few stores other than Amazon's have a host name for each bucket.
                s3={"addressing_style": "path" if is_elsewhere else "auto"},
                # Some other stores do not know the newer checksums.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        }

    @property
    def bucket(self) -> Any:
        """The bucket for this thread: boto3's resources must not be shared between threads."""
        return self.connection.Bucket(self.bucket_name)

    def some_files(self, folder: str, *, start: str, most: int) -> Iterator[tuple[str, datetime]]:
        with _convert_errors():
            files = self.bucket.objects
            after = islice(files.filter(Prefix=f"{folder}/", Marker=f"{folder}/{start}"), most)
            listed = [(item.key, item.last_modified) for item in after]
            if len(listed) < most:
                before = islice(files.filter(Prefix=f"{folder}/"), most - len(listed))
                listed += [(item.key, item.last_modified) for item in before]
        # A name with a further slash belongs to a subfolder, which is not ours.
        yield from {
            name: came_at for name, came_at in listed if "/" not in name[len(folder) + 1 :]
        }.items()

    def _open(self, name: str, mode: str = "rb") -> "File[Any]":
        with _convert_errors():
            file: File[Any] = super()._open(name, mode)
            # This fetches the file now, so that a failure occurs before the response begins.
            assert file.file is not None
            return file

    def _save(self, name: str, content: "File[Any]") -> str:
        with _convert_errors():
            return str(super()._save(name, content))

    def delete(self, name: str) -> None:
        with _convert_errors():
            super().delete(name)

    def exists(self, name: str) -> bool:
        with _convert_errors():
            return bool(super().exists(name))

    def size(self, name: str) -> int:
        with _convert_errors():
            return int(super().size(name))


@contextmanager
def _convert_errors() -> Iterator[None]:
    cpu_slots.release()  # while this job waits for the store
    try:
        yield
    except (BotoCoreError, Boto3Error, ClientError) as exc:
        metrics.FILE_FAILURES.add()
        log.warning("the store of files failed: %r", exc)
        raise FilesUnavailable from exc
