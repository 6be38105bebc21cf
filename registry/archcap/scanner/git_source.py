"""An engine's source as a commit has it, read from a checkout's repository; the working tree is left alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

from archcap.errors import RequestError
from archcap.scanner.source import Source, package_folder, said_version


def open_commit(path: Path, ref: str, package: str) -> Source:
    """Open the Python files of *package* as commit *ref* has them.

    Args:
        path: a checkout, or a folder in it that holds the package.
        ref: whatever git takes for a commit.
        package: the package's import name.
    Raises:
        RequestError: `no-commit`, when *path* is in no repository or *ref* is no commit of it.
    """
    folder = package_folder(path, package)
    top = Path(_git(folder, "rev-parse", "--show-toplevel").strip())
    commit = _git(top, "rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}").strip()
    below = folder.resolve().relative_to(top.resolve()).as_posix()
    listed = _git(top, "ls-tree", "-r", "-z", "--name-only", commit, "--", f"{below}/")
    names = tuple(sorted(n.removeprefix(f"{below}/") for n in listed.split("\0") if n.endswith(".py")))
    reader = _Reader(top, commit, below)
    return Source(package, f"{path} at {ref}", names, reader.read, said_version(names, reader.read))


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)
    except OSError as error:
        raise RequestError("no-commit", "git cannot be run", "install git, or leave out --since") from error
    if done.returncode:
        said = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["git failed"])[-1]
        raise RequestError("no-commit", f"{folder}: {said}", "name a commit of the checkout that the source is in")
    return done.stdout.decode("utf-8", "replace")


class _Reader:
    """Reads files of one commit through one process."""

    def __init__(self, top: Path, commit: str, below: str) -> None:
        self._asked = f"{commit}:{below}/"
        self._git = subprocess.Popen(
            ["git", "-C", str(top), "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def read(self, name: str) -> bytes:
        """Return a file's content.

        Raises:
            OSError: git does not have it.
        """
        assert self._git.stdin is not None
        assert self._git.stdout is not None
        self._git.stdin.write(f"{self._asked}{name}\n".encode())
        self._git.stdin.flush()
        head = self._git.stdout.readline().split()
        if len(head) != 3:
            raise OSError(0, "git does not have it", name)
        content = self._git.stdout.read(int(head[2]) + 1)
        return content[:-1]

    def __del__(self) -> None:
        if self._git.stdin is not None:
            self._git.stdin.close()
        if self._git.stdout is not None:
            self._git.stdout.close()
        self._git.wait()
