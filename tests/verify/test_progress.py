"""A long run shows how far it is to whoever watches, and to nobody else."""

import io

from archcap.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(stream, total, steps):
    with Progress(stream, total, "launches") as progress:
        for number in range(steps):
            progress.step(f"{number} disagree")
    return stream.getvalue()


def test_a_file_gets_no_progress():
    assert shown(io.StringIO(), 3, 3) == ""


def test_a_terminal_gets_count_time_and_note_and_is_left_clean():
    text = shown(Terminal(), 3, 3)
    assert "3/3 launches, 0:00 left, 2 disagree" in text
    assert text.endswith("\r\033[K")


def test_a_bar_is_not_wider_than_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    assert max(len(line.replace("\033[K", "")) for line in shown(Terminal(), 9, 9).split("\r")) < 30


def test_no_launches_at_all_are_no_trouble():
    assert "\n" not in shown(Terminal(), 0, 0)
