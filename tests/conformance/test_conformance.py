"""What the engine was recorded to do, the rules do: every release of the corpus, against its lists."""

import pytest

from archcap.snapshot import store
from tests.conformance import agreed, corpus, table

RELEASES = corpus.releases()
ENOUGH = 1000


@pytest.fixture(scope="module")
def snapshot():
    root = store.checkout_root()
    assert root is not None
    return store.open_registry(root)


@pytest.mark.parametrize("release", RELEASES)
def test_what_agreed_with_the_engine_still_does_and_the_lists_say_so(snapshot, release):
    standing = agreed.standing_of(release, snapshot)
    verdict = agreed.judge(standing, agreed.agreed_of(release), agreed.open_of(release))
    assert not verdict, f"\n{verdict}"


def test_the_corpus_holds_every_architecture_on_every_device_it_has():
    found = [row for release in RELEASES for row in corpus.rows(release)]
    assert len(found) >= ENOUGH
    newest = [launch for launch, _ in corpus.rows(RELEASES[-1])]
    architectures = {launch.subject.architecture for launch in newest}
    devices = {launch.gpu for launch in newest}
    pairs = {(launch.subject.architecture, launch.gpu) for launch in newest}
    assert len(pairs) > 0.9 * len(architectures) * len(devices)


@pytest.mark.parametrize("release", RELEASES)
def test_lists_are_in_order_and_name_what_is_there(release):
    listed, still_open = agreed.agreed_of(release), agreed.open_of(release)
    assert listed == sorted(set(listed))
    assert still_open == sorted(set(still_open))
    ids = [launch.id for launch, _ in corpus.rows(release)]
    assert set(still_open) <= set(ids)


def test_every_list_belongs_to_a_release():
    lists = [path.stem for name in ("agreed", "open") for path in (corpus.HERE / name).glob("*.txt")]
    assert set(lists) <= set(RELEASES)


def test_every_configuration_is_launched_and_none_is_there_twice():
    launches = [launch for release in RELEASES for launch, _ in corpus.rows(release)]
    used = {one.path for launch in launches for one in (launch.subject, launch.draft) if one is not None}
    assert set((corpus.HERE / "configs").rglob("*.json")) == used


def test_the_table_of_the_readme_is_what_the_corpus_shows(snapshot):
    root = store.checkout_root()
    said = (root / "README.md").read_text(encoding="utf-8")
    shown = said.partition("<!-- agreement:begin -->\n")[2].partition("\n<!-- agreement:end -->")[0]
    assert shown.splitlines() == table.lines(table.figures(snapshot))
