"""A model server that speaks as much of the OpenAI API as a worker asks for."""

import threading
from collections.abc import Callable
from typing import Any

from tests.runtime.support.servers import Handler, Server


class ModelServer(Server):
    """Answers every question with ``text``, once ``gate`` is open; ``refusals`` come first."""

    def __init__(self) -> None:
        super().__init__(0, _ModelHandler)
        self.text = '{"count": 3}'
        self.gate = threading.Event()
        self.gate.set()
        #: (status, headers) for the next questions, first in first out.
        self.refusals: list[tuple[int, dict[str, str]]] = []
        #: Called at each question.
        self.on_asked: Callable[[], object] = lambda: None
        #: The questions, as they were asked.
        self.asked: list[dict[str, Any]] = []


class _ModelHandler(Handler):
    server: ModelServer

    def do_POST(self) -> None:  # noqa: N802  # http.server's name
        question = self.read_json()
        self.server.on_asked()
        self.server.asked.append(question)
        if self.server.refusals:
            status, headers = self.server.refusals.pop(0)
            self.answer(status, {"error": {"message": "as the test wants it"}}, **headers)
            return
        self.server.gate.wait()
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": self.server.text},
        }
        usage = {"prompt_tokens": 1_000, "completion_tokens": 10, "total_tokens": 1_010}
        document = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        self.answer(200, {**document, "usage": usage})
