"""A proxy before the emulator's SQS that breaks requests in the ways a network can."""

import http.client
import json
import socket
import struct
import threading
import time
from urllib.parse import urlsplit

from tests.runtime.support.servers import Handler, Server

#: The ways to break a request. The last three are answers of SQS itself.
FAULTS = ("reset", "closed", "cut", "garbled", "503", "hang", "ThrottlingException", "ExpiredToken", "AccessDenied")
EVERY = "every operation"


class FaultProxy(Server):
    """Forwards to ``upstream``, and breaks the next ``left`` requests for one operation, or for EVERY, by ``fault``."""

    def __init__(self, upstream: str, port: int = 0) -> None:
        super().__init__(port, _ProxyHandler)
        self.upstream = urlsplit(upstream)
        self.operation, self.fault, self.left = "", "", 0
        #: Access keys that SQS knows no more.
        self.expired: set[str] = set()
        #: Each action that was asked for, as IAM names it, with its queue's URL.
        self.asked: set[tuple[str, str]] = set()
        #: The long polls that are not answered yet.
        self.polls: set[object] = set()
        #: How many there were.
        self.polled = 0
        #: When the last one was answered with messages, as time.time().
        self.delivered_at = 0.0
        self.released = threading.Event()

    def break_next(self, count: int, fault: str, operation: str = "ReceiveMessage") -> None:
        """Break the next ``count`` requests."""
        self.operation, self.fault, self.left = operation, fault, count


class _ProxyHandler(Handler):
    server: FaultProxy

    def do_POST(self) -> None:  # noqa: N802  # http.server's name
        body = self.rfile.read(int(self.headers["content-length"]))
        operation = self.headers.get("x-amz-target", "").rpartition(".")[2]
        self.server.asked.add((f"sqs:{operation}", json.loads(body)["QueueUrl"]))
        if any(f"Credential={key}/" in self.headers["authorization"] for key in self.server.expired):
            self._break("ExpiredToken")
            return
        if self.server.operation in (operation, EVERY) and self.server.left > 0:
            self.server.left -= 1
            self._break(self.server.fault)
            return
        if operation == "ReceiveMessage":
            self.server.polls.add(self)
            self.server.polled += 1
        try:
            self._forward(body)
        finally:
            self.server.polls.discard(self)

    def _forward(self, body: bytes) -> None:
        upstream = self.server.upstream
        connection = http.client.HTTPConnection(upstream.hostname or "", upstream.port)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        try:
            connection.request("POST", self.path, body, headers)
            response = connection.getresponse()
            answer = response.read()
            if b"ReceiptHandle" in answer:
                self.server.delivered_at = time.time()
            self.answer_bytes(response.status, answer)
        finally:
            connection.close()

    def _break(self, fault: str) -> None:
        self.close_connection = True
        if fault == "reset":
            # Linger 0: close() sends RST (socket(7), SO_LINGER).
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        elif fault == "cut":
            self.wfile.write(b'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"Messages": [')
        elif fault == "garbled":
            self.answer_bytes(200, b"<html>not SQS</html>")
        elif fault == "503":
            self.answer_bytes(503, b"")
        elif fault == "hang":
            self.server.released.wait(60)
        elif fault != "closed":  # an error's code
            document = {"__type": f"com.amazon.coral.service#{fault}", "message": "as the test wants it"}
            self.answer_bytes(400, json.dumps(document).encode())
