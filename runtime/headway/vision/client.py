"""One request to an OpenAI-compatible vision model, and every way it can fail, as types.

The client's own retries are off: they know nothing of the gate, the quota or the step's patience.
"""

import base64
from dataclasses import dataclass

import anyio._backends._asyncio  # noqa: F401  # lazy otherwise, and then loaded again by every forked child
import httpx2
import openai

from headway.clock import StageClock
from headway.vision.calls import Origin

#: Wall seconds to reach the server; an answer may take as long as the model works.
_CONNECT_S = 10.0


class CallError(Exception):
    """A call brought no answer; ``outcome`` is its word in the call log, ``final`` where trying again is useless."""

    outcome = "unavailable"
    final = False
    served = True


class RateLimitedError(CallError):
    """429: the request was not served and costs nothing; ``retry_after`` is the server's header."""

    outcome = "rate_limited"
    served = False

    def __init__(self, message: str, retry_after: str | None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class UnavailableError(CallError):
    """The server failed, or could not be reached."""


class TimedOutError(CallError):
    """The model did not answer in time."""

    outcome = "timed_out"


class RefusedError(CallError):
    """The server will never accept this request."""

    outcome = "refused"
    final = True


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The model's text and the tokens it was billed for."""

    text: str
    input_tokens: int
    output_tokens: int


class ModelClient:
    """Asks one model; make it where its event loop runs. ``timeout_s`` is stage time.

    ``worker`` is who asks: it goes along as metadata, so that the server's log tells whose call it was.
    """

    def __init__(
        self, *, base_url: str, api_key: str, model: str, timeout_s: float, clock: StageClock, worker: str = ""
    ) -> None:
        self.model = model
        self._worker = worker
        wall_s = clock.wall(timeout_s, at_least=1.0)
        self._client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=api_key,
            max_retries=0,
            timeout=httpx2.Timeout(wall_s, connect=_CONNECT_S),
        )
        # Loaded here and not by the first call of every forked child.
        self._completions = self._client.chat.completions

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def ask(self, prompt: str, png: bytes, origin: Origin) -> Answer:
        """Ask about one image.

        Raises:
            CallError: RateLimitedError, UnavailableError, TimedOutError or RefusedError.
        """
        image = f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
        try:
            completion = await self._completions.create(
                model=self.model,
                messages=[
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": prompt},
                            {"type": "image_url", "image_url": {"url": image}},
                        ],
                    }
                ],
                response_format={"type": "json_object"},
                metadata={
                    "job": str(origin.job_id),
                    "step": str(origin.step_id),
                    "attempt": str(origin.attempt),
                    "worker": self._worker,
                },
            )
        except openai.RateLimitError as error:
            raise RateLimitedError(_line(error), error.response.headers.get("retry-after")) from None
        except openai.APITimeoutError:
            raise TimedOutError("the model did not answer in time") from None
        except openai.APIConnectionError as error:
            raise UnavailableError(f"the model's server cannot be reached: {error.__cause__ or error}") from None
        except openai.APIStatusError as error:
            passing = error.status_code >= 500 or error.status_code in (408, 409)
            raise (UnavailableError if passing else RefusedError)(_line(error)) from None
        except openai.APIError as error:
            raise UnavailableError(_line(error)) from None
        usage = completion.usage
        return Answer(
            text=(completion.choices[0].message.content or "") if completion.choices else "",
            input_tokens=usage.prompt_tokens if usage else 0,
            output_tokens=usage.completion_tokens if usage else 0,
        )


def _line(error: openai.APIError) -> str:
    return f"the model's server says: {' '.join(error.message.split())[:200]}"
