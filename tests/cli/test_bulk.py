"""Lines come back in order however many processes answer them, and nobody waits for input that may never come."""

import os
import sys
import threading

import pytest

from archcap.cli.bulk import answered, processors

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")


def shout(line, number):
    text = line.decode()
    if text == "raise":
        raise ValueError(text)
    return f"{number}:{text.upper()}".encode(), "odd" if text == "bad" else None


class Pipe:
    """Lines written bit by bit, and the answers read from the other end."""

    def __init__(self):
        reading, writing = os.pipe()
        self.source, self.end = os.fdopen(reading, "rb"), os.fdopen(writing, "wb", buffering=0)
        self.answers = answered(self.source, shout, 2)

    def write(self, *lines):
        self.end.write("".join(f"{line}\n" for line in lines).encode())

    def read(self, count):
        return [next(self.answers)[0].decode() for _ in range(count)]


@pytest.fixture
def pipe():
    made = Pipe()
    yield made
    made.answers.close()  # the processes hold the end that is written to as well, so it would never be the last
    made.end.close()
    made.source.close()


def of_file(tmp_path, text):
    path = tmp_path / "lines"
    path.write_bytes(text)
    with path.open("rb") as source:
        return list(answered(source, shout, 2))


@pytest.mark.parametrize("count", [1, 4, 5, 300, 5_000])
def test_every_line_is_answered_in_order(tmp_path, count):
    text = "".join(f"line {n}\n" for n in range(count)).encode()
    assert [answer for answer, _ in of_file(tmp_path, text)] == [f"{n + 1}:LINE {n}".encode() for n in range(count)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", []),
        (b"\n\n", []),
        (b"a", ["1:A"]),
        (b"a\n\n \nb", ["1:A", "4:B"]),
        (b"a\r\nb\n", ["1:A\r", "2:B"]),
    ],
)
def test_empty_lines_count_and_are_not_answered(tmp_path, text, said):
    assert [answer.decode() for answer, _ in of_file(tmp_path, text)] == said


def test_what_there_is_to_say_stands_with_its_line(tmp_path):
    text = b"good\nbad\n" * 200
    assert [problem for _, problem in of_file(tmp_path, text)] == [None, "odd"] * 200


@pytest.mark.parametrize("before", [0, 3, 400])
def test_an_error_that_ends_all_is_raised_and_no_later_line_is_answered(tmp_path, before):
    path = tmp_path / "lines"
    path.write_bytes(b"a\n" * before + b"raise\n" + b"b\n" * 400)
    got = []
    with path.open("rb") as source, pytest.raises(ValueError, match="raise"):
        got.extend(answer for answer, _ in answered(source, shout, 2))
    assert len(got) <= before


@pytest.mark.parametrize("lines", [1, 3, 40])
def test_a_program_may_wait_for_its_answers_before_it_writes_on(pipe, lines):
    for _ in range(3):
        pipe.write(*["x"] * lines)
        assert [answer.split(":")[1] for answer in pipe.read(lines)] == ["X"] * lines


def test_a_line_written_in_parts_is_one_line(pipe):
    pipe.end.write(b"hal")
    threading.Timer(0.05, pipe.end.write, [b"ves\n"]).start()
    assert pipe.read(1) == ["1:HALVES"]


def test_a_line_longer_than_what_is_read_at_once_is_one_line(tmp_path):
    text = b"x" * 3_000_000
    (answer, _), (last, _) = of_file(tmp_path, text + b"\nend\n")
    assert len(answer) == 3_000_002
    assert last == b"2:END"


def test_there_is_a_processor():
    assert processors() >= 1
