"""A proxy before PostgreSQL that loses the answer to a COMMIT, or lets connections go silent."""

import contextlib
import socket
import threading
from collections.abc import Iterator

from headway.contract import DatabaseSecret

#: The end of a simple query's message (PostgreSQL manual, "Message Formats", Query).
_COMMIT = b"COMMIT\x00"
_CHUNK = 65_536


class PostgresProxy:
    """Forwards every byte until told otherwise."""

    def __init__(self, secret: DatabaseSecret) -> None:
        self._upstream = (secret.host, secret.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._connections: list[_Connection] = []
        #: The COMMIT of a transaction that says so is the one to lose.
        self.losing = b""
        #: How many answers were lost, and how many withheld.
        self.lost = 0
        self.withheld = 0

    def lose_commit(self, said: str) -> None:
        """Let the next COMMIT of a transaction that ``said`` this through, and cut the connection without an answer."""
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
        self._said, self._losing = b"", False
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
                self._said += data
                if data.endswith(_COMMIT):
                    if self._proxy.losing and self._proxy.losing in self._said:
                        self._proxy.losing, self._losing = b"", True
                    self._said = b""
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
