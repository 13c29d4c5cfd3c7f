"""The stage's load balancer: one loopback port, behind it whichever tasks of a load-balanced service answer."""

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Callable, Sequence

from headway_ops.local.ports import LOOPBACK

_CHUNK_BYTES = 65_536
_BODY = b"no task of the service answers yet"
#: What an Application Load Balancer says without a healthy target ("Troubleshoot your Application Load Balancers").
_NOBODY = b"HTTP/1.1 503 Service Temporarily Unavailable\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (
    len(_BODY),
    _BODY,
)


def serve_balancer(port: int, addresses: Callable[[], Sequence[tuple[str, int]]]) -> None:
    """Forward each connection to the next of ``addresses`` that answers, from a thread of its own."""
    turns = itertools.count()

    async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        found = addresses()
        first = next(turns)
        for number in range(len(found)):
            with contextlib.suppress(OSError):
                return await asyncio.open_connection(*found[(first + number) % len(found)])
        return None

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        target = await connect()
        if target is None:
            writer.write(_NOBODY)
            await _close(writer)
            return
        await asyncio.gather(_copy(reader, target[1]), _copy(target[0], writer))

    async def serve() -> None:
        server = await asyncio.start_server(accept, LOOPBACK, port)
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(serve()), name="load-balancer", daemon=True).start()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await reader.read(_CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
    await _close(writer)


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
