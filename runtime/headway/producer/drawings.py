"""The bucket as a sender sees it: it stores drawings, and opens those that others have stored."""

from functools import cached_property
from typing import TYPE_CHECKING

import boto3
import botocore.config
import botocore.exceptions

from headway.contract import DRAWINGS_PREFIX, ProducerEnv
from headway.vision.image import MAX_BYTES, DrawingError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_CONFIG = botocore.config.Config(connect_timeout=3, read_timeout=20, retries={"total_max_attempts": 3})
#: An S3 key is at most 1,024 bytes of UTF-8 ("Naming Amazon S3 objects", S3 user guide).
_MAX_KEY_BYTES = 1_024
#: Without the right to list a bucket, S3 tells a missing object by 403 (GetObject, "Permissions", S3 API reference).
_MISSING = frozenset({"403", "404", "AccessDenied", "NoSuchKey", "NotFound"})


class BucketError(Exception):
    """The bucket does not do what it was asked; the message is one line."""


class Drawings:
    """One stage's drawings; may be used by several threads."""

    def __init__(self, env: ProducerEnv) -> None:
        self._env = env

    @cached_property
    def _s3(self) -> "S3Client":
        return boto3.client("s3", region_name=self._env.region, config=_CONFIG)

    def store(self, key: str, data: bytes) -> None:
        """Store a drawing.

        Raises:
            BucketError: it could not be stored.
        """
        try:
            self._s3.put_object(Bucket=self._env.drawings_bucket, Key=key, Body=data)
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
            raise BucketError(f"the drawing could not be stored: {error}") from None

    def read(self, key: str) -> bytes:
        """Return a stored drawing.

        Raises:
            DrawingError: the key is none of a drawing, there is nothing under it, or it is too big to be opened.
            BucketError: it could not be read.
        """
        check_key(key)
        try:
            answer = self._s3.get_object(Bucket=self._env.drawings_bucket, Key=key)
            with answer["Body"] as body:
                if answer["ContentLength"] > MAX_BYTES:
                    raise DrawingError(f"too big: {answer['ContentLength']:,} bytes, at most {MAX_BYTES:,}")
                return body.read()
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
            if isinstance(error, botocore.exceptions.ClientError) and error.response["Error"]["Code"] in _MISSING:
                raise DrawingError(f"no drawing is stored under {key!r}") from None
            raise BucketError(f"the drawing could not be read: {error}") from None


def check_key(key: str) -> None:
    """Refuse a key that no drawing can have, before a bucket or a database is asked.

    Raises:
        DrawingError: it is not under drawings/, too long, or has characters that cannot be stored.
    """
    if not key.startswith(DRAWINGS_PREFIX) or key == DRAWINGS_PREFIX:
        raise DrawingError(f"key = {key[:80]!r}: must begin with {DRAWINGS_PREFIX}")
    if not key.isprintable():
        raise DrawingError(f"key = {key[:80]!r}: must have printable characters only")
    if len(key.encode()) > _MAX_KEY_BYTES:
        raise DrawingError(f"key = {key[:80]!r}...: must have at most {_MAX_KEY_BYTES:,} bytes")
