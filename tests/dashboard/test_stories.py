"""The shipped registry in a real browser: the founding stories on the launch check, what strangers look for, speed."""

from __future__ import annotations

import pytest

from tests.dashboard.conftest import ROOT

CONFIG = (ROOT / "examples/configs/qwen3_5-moe-text.json").read_text(encoding="utf-8")
COMMAND = "python -m sglang.launch_server --model-path ./checkpoint --tp 8 --dcp-size 2"


def check(page, address, release, command, config=CONFIG, **fields):
    page.goto(f"{address}/check")
    page.fill("#command", command)
    page.fill("#config", config)
    for name, value in {"release": release, "gpu": "h200", **fields}.items():
        page.select_option(f"form.check-form [name={name}]", value)
    page.click("form.check-form button.primary")
    page.wait_for_selector("#verdict", timeout=120_000)


def verdict(window):
    return window.text("#verdict .verdict")


def test_story_one_is_refused_explained_and_cured_on_one_screen(visit, real_site):
    window = visit(width=1280, height=800)
    page = window.page
    check(page, real_site, "0.5.18", COMMAND)
    assert verdict(window) == "refused"
    page.wait_for_selector("#strip li", timeout=120_000)
    chain = page.locator(".chain").first.inner_text()
    for said in ("the tree page is 2", "dcp_size is 2", "stayed auto", "not registered", "it is from 0.5.19"):
        assert said in chain
    for shown in (".verdict-head", ".chain >> nth=0", ".fix >> nth=0", ".fix >> nth=1", ".fix >> nth=2"):
        box = page.locator(shown).bounding_box()
        assert box["y"] >= 0, shown
        assert box["y"] + box["height"] <= 800, shown
    assert page.evaluate("scrollY") == 0
    refused = page.url
    page.locator(".fix").first.click()
    page.wait_for_selector(".vh-ok, .vh-adjusted", timeout=120_000)
    assert "--dcp-size 1" in page.input_value("#command") or "--dcp-size" not in page.input_value("#command")
    cured = page.url
    for address, expected in ((refused, {"refused"}), (cured, {"ok", "adjusted"})):
        fresh = visit()
        fresh.page.goto(address, timeout=120_000)
        assert verdict(fresh) in expected
        assert fresh.page.input_value("#config").strip().startswith("{")


STORIES = [
    ("0.5.19", COMMAND, {"unsafe"}, "attention"),
    ("0.5.19", COMMAND + " --attention-backend triton", {"ok", "adjusted"}, "extra_buffer"),
    ("0.5.17", COMMAND.replace("--dcp-size 2", "--speculative-algorithm DFLASH --speculative-draft-model-path ./draft"),
     {"refused"}, "Qwen3_5ForCausalLM"),
    ("0.5.9", COMMAND.replace("--tp 8 --dcp-size 2", "--tp 2 --pp-size 4"), {"unsafe", "refused"}, ""),
    ("0.5.17", COMMAND.replace("--tp 8 --dcp-size 2", "--tp 2 --pp-size 4"), {"ok", "adjusted"}, "rank 3"),
]  # fmt: skip


@pytest.mark.parametrize(("release", "command", "expected", "says"), STORIES)
def test_the_other_stories_have_their_verdict_on_the_page(visit, real_site, release, command, expected, says):
    window = visit()
    check(window.page, real_site, release, command)
    assert verdict(window) in expected
    assert says in window.page.locator("#answer").inner_text()


def test_the_draft_story_says_what_the_draft_is(visit, real_site):
    window = visit()
    command = COMMAND.replace("--dcp-size 2", "--speculative-algorithm EAGLE")
    check(window.page, real_site, "0.5.18", command)
    assert "Qwen3_5ForCausalLMMTP" in window.page.locator(".plan").inner_text()


def test_the_strip_leads_to_the_same_launch_on_another_release(visit, real_site):
    window = visit()
    check(window.page, real_site, "0.5.18", COMMAND)
    window.page.wait_for_selector("#strip li", timeout=120_000)
    assert window.page.locator("#strip li.v-refused").count() > 1
    window.page.click("#strip a:has-text('0.5.19')")
    window.page.wait_for_selector(".vh-unsafe", timeout=120_000)
    assert window.page.locator("form.check-form [name=release]").input_value() == "0.5.19"


def test_who_got_dflash_in_a_release_is_two_clicks_away(visit, real_site):
    window = visit()
    window.page.goto(real_site)
    window.page.click("a[href='/compare/sglang/0.5.17/0.5.18']")
    window.page.wait_for_url("**/compare/sglang/0.5.17/0.5.18")
    gained = window.page.locator(".changes > div:has-text('DFLASH hidden-state capture')").inner_text()
    assert "Qwen3_5MoeForCausalLM" in gained


def test_since_when_and_from_where_an_architecture_has_something_is_three_clicks_away(visit, real_site):
    window = visit()
    window.page.goto(real_site)
    window.page.fill(".find input", "Qwen3_5MoeForCausalLM")
    window.page.press(".find input", "Enter")
    window.page.click(".hits a >> nth=0")
    window.page.wait_for_url("**/architectures/sglang/*/Qwen3_5MoeForCausalLM")
    line = window.text("tr:has(th:has-text('Prefix cache for hybrid models'))")
    assert "0.5.19" in line
    assert "sglang#35297" in window.text("main")


def test_what_a_flag_does_to_a_setting_is_one_click_away(visit, real_site):
    window = visit()
    window.page.goto(real_site)
    window.page.click("text=--dcp-size 2")
    window.page.wait_for_selector("#verdict", timeout=120_000)
    chain = window.page.locator(".chain").first.inner_text()
    assert "the tree page is 2" in chain
    assert "dcp_size is 2" in chain


def test_the_matrix_of_the_newest_release_filters_its_290_rows(visit, real_site):
    window = visit()
    window.page.goto(f"{real_site}/matrix/sglang/0.5.23")
    shown = "[...document.querySelectorAll('.matrix tbody tr')].filter(row => row.offsetParent !== null).length"
    assert window.page.evaluate(shown) >= 290
    window.page.fill("#q", "deepseek")
    window.page.wait_for_function(f"{shown} < 60")
    assert window.page.evaluate(shown) > 0
    window.page.fill("#q", "")
    window.page.wait_for_function(f"{shown} >= 290")
