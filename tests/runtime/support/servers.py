"""Small HTTP servers on free loopback ports, each in a thread of its own."""

import contextlib
import http.server
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any


class Handler(http.server.BaseHTTPRequestHandler):
    """Reads JSON, answers JSON, says nothing on stderr."""

    protocol_version = "HTTP/1.1"

    server: "Server"

    def setup(self) -> None:
        """Note the connection, for the server to cut."""
        self.server.connections.add(self.request)
        super().setup()

    def finish(self) -> None:
        """Forget the connection."""
        self.server.connections.discard(self.request)
        with contextlib.suppress(OSError):
            super().finish()

    def read_json(self) -> Any:
        """Return the request's body."""
        return json.loads(self.rfile.read(int(self.headers["content-length"])))

    def answer(self, status: int, document: Any, **headers: str) -> None:
        """Answer with a JSON document."""
        self.answer_bytes(status, json.dumps(document).encode(), **headers)

    def answer_bytes(self, status: int, body: bytes, **headers: str) -> None:
        """Answer with a body as it is."""
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Server(http.server.ThreadingHTTPServer):
    """A threading server whose clients may hang up at any time."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int, handler: type[Handler]) -> None:
        self.connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), handler)

    def handle_error(self, *_: Any) -> None:
        """A client that was killed, or a fault that was asked for."""

    def server_close(self) -> None:
        """Close the listener and cut every connection: nothing answers any more."""
        super().server_close()
        for connection in self.connections.copy():
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @property
    def url(self) -> str:
        """The server's address."""
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextlib.contextmanager
def serving(server: Server) -> Iterator[None]:
    """Serve in a thread, and stop."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
