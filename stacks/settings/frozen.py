"""What every table of settings is: frozen, complete and strict."""

import pydantic


class Frozen(pydantic.BaseModel):
    """A table whose every key is known, present and of its type."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=True)
