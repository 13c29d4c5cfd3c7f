"""A proxy before PostgreSQL that lets a COMMIT through and loses its answer."""

import contextlib
import socket
import threading
from collections.abc import Iterator

from headway.contract import DatabaseSecret

#: The end of a simple query's message (PostgreSQL manual, "Message Formats", Query).
_COMMIT = b"COMMIT\x00"
_CHUNK = 65_536


class CommitProxy:
    """Forwards every byte; after ``lose_next_commit`` it cuts the connection of the next COMMIT once it is done."""

    def __init__(self, secret: DatabaseSecret) -> None:
        self._upstream = (secret.host, secret.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._armed = False
        #: Whether an answer was lost.
        self.lost = False

    def lose_next_commit(self) -> None:
        """Lose the answer to the next COMMIT on any connection."""
        self._armed = True

    @contextlib.contextmanager
    def serving(self) -> Iterator["CommitProxy"]:
        """Serve in threads, and stop."""
        threading.Thread(target=self._accept, daemon=True).start()
        try:
            yield self
        finally:
            self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._upstream)
                losing = threading.Event()
                threading.Thread(target=self._requests, args=(client, server, losing), daemon=True).start()
                threading.Thread(target=self._answers, args=(client, server, losing), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket, losing: threading.Event) -> None:
        with contextlib.suppress(OSError), server:
            while data := client.recv(_CHUNK):
                if self._armed and data.endswith(_COMMIT):
                    self._armed = False
                    losing.set()
                server.sendall(data)

    def _answers(self, client: socket.socket, server: socket.socket, losing: threading.Event) -> None:
        with contextlib.suppress(OSError), client:
            while data := server.recv(_CHUNK):
                if losing.is_set():
                    self.lost = True
                    client.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(data)
