"""A proxy before PostgreSQL that loses the answer to a statement that commits, or lets connections go silent."""

import contextlib
import socket
import threading
from collections.abc import Iterator

from headway.contract import DatabaseSecret

_CHUNK = 65_536


class PostgresProxy:
    """Forwards every byte until told otherwise."""

    def __init__(self, secret: DatabaseSecret) -> None:
        self._upstream = (secret.host, secret.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._connections: list[_Connection] = []
        #: The statement that says so is the one whose answer is to be lost.
        self.losing = b""
        #: How many answers were lost, and how many withheld.
        self.lost = 0
        self.withheld = 0

    def lose_answer(self, said: str) -> None:
        """Let the next statement that ``said`` this through, and cut the connection without its answer.

        A statement outside a transaction block is committed before it is answered.
        """
        self.losing = said.encode()

    def silence(self) -> None:
        """Answer nothing any more on the connections of now; new ones are as good as ever."""
        for connection in self._connections:
            connection.silent = True

    @contextlib.contextmanager
    def serving(self) -> Iterator["PostgresProxy"]:
        """Serve in threads, and stop."""
        threading.Thread(target=self._accept, daemon=True).start()
        try:
            yield self
        finally:
            self._listener.close()
            for connection in self._connections:
                connection.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                connection = _Connection(self, client, socket.create_connection(self._upstream))
                self._connections.append(connection)
                for work in (connection.forward_requests, connection.forward_answers):
                    threading.Thread(target=work, daemon=True).start()


class _Connection:
    """One client's connection, and the one behind it."""

    def __init__(self, proxy: PostgresProxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy, self._client, self._server = proxy, client, server
        self._losing = False
        self.silent = False

    def close(self) -> None:
        """Close both."""
        for end in (self._client, self._server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def forward_requests(self) -> None:
        """Forward what the client says, until it is silent for good."""
        with contextlib.suppress(OSError):
            while data := self._client.recv(_CHUNK):
                if self._proxy.losing and self._proxy.losing in data:
                    self._proxy.losing, self._losing = b"", True
                self._server.sendall(data)
        self.close()

    def forward_answers(self) -> None:
        """Forward what the server says, unless it is to be lost or withheld."""
        with contextlib.suppress(OSError):
            while data := self._server.recv(_CHUNK):
                if self.silent:
                    self._proxy.withheld += 1
                elif self._losing:
                    self._proxy.lost += 1
                    break
                else:
                    self._client.sendall(data)
        self.close()
