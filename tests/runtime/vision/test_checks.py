"""What is asked, and how strictly the answer is read."""

import pytest

from headway.vision.checks import BARS, OPENINGS, UnreadableError, read_count


def test_a_count_is_read() -> None:
    """White space around it is JSON's own."""
    assert read_count(' {"count": 12}\n') == {"count": 12}
    assert read_count('{"count": 0}') == {"count": 0}


@pytest.mark.parametrize(
    "text",
    ["", "  ", "12", '{"count": -1}', '{"count": 1.0}', '{"count": true}', '{"count": "3"}', '{"count": 3, "sure": 1}'],
)
@pytest.mark.parametrize("wrap", ["{}", "```json\n{}\n```"])
def test_anything_else_is_unreadable(text: str, wrap: str) -> None:
    """No guessing: a wrong count is worse than none."""
    with pytest.raises(UnreadableError):
        read_count(wrap.replace("{}", text))


def test_the_questions_are_told_apart_by_one_word_each() -> None:
    """A model, or a test's stand-in, can tell which one it is asked."""
    assert "bars" in BARS.prompt
    assert "openings" not in BARS.prompt
    assert "openings" in OPENINGS.prompt
    assert "bars" not in OPENINGS.prompt
