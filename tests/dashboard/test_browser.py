"""The dashboard in a real browser, over the invented registry: policy, accessibility, keyboard, schemes, no script."""

from __future__ import annotations

from pathlib import Path

import axe_playwright_python
import pytest

from tests.dashboard.pages import PAGES, RIVER_CONFIG, TRACEBACK
from tests.dashboard.test_forms import EVIL

GROUP = ".matrix thead a:has-text('Parallelism')"
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
BRIGHTNESS = """() => {
  const [r, g, b] = getComputedStyle(document.documentElement).backgroundColor.match(/[0-9.]+/g).map(Number);
  return (r + g + b) / 3;
}"""


def findings(page):
    page.evaluate(AXE)
    found = page.evaluate("(tags) => axe.run(document, {runOnly: tags, resultTypes: ['violations']})", RULES)
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found["violations"]]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_no_page_has_anything_that_axe_finds(visit, site, scheme, width):
    window = visit(width=width, scheme=scheme, bypass_csp=True)
    found = {}
    for name, path in PAGES.items():
        window.page.goto(site + path, wait_until="networkidle")
        found[name] = findings(window.page)
        assert (window.page.evaluate(BRIGHTNESS) > 128) == (scheme == "light")
        assert window.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    window.complaints = [one for one in window.complaints if "422" not in one]
    assert {name: held for name, held in found.items() if held} == {}


def test_no_page_breaks_the_policy_or_a_script(visit, site):
    window = visit()
    for path in PAGES.values():
        window.page.goto(site + path, wait_until="networkidle")
    window.complaints = [one for one in window.complaints if "422" not in one]


def rows(window):
    return window.page.locator(".matrix tbody tr:visible th a").all_inner_texts()


def test_the_matrix_filters_while_one_types_and_the_address_follows(visit, site):
    window = visit()
    window.page.goto(f"{site}/matrix/toy/0.11")
    assert len(rows(window)) == 4
    window.page.fill("#q", "stone")
    assert rows(window) == ["StoneDraftModel", "StoneForCausalLM"]
    window.page.select_option("#without", "window")
    assert rows(window) == ["StoneDraftModel"]
    assert window.text("#count") == "1 of 4"
    window.page.wait_for_url("**?q=stone&without=window")
    assert "without=window" in window.page.locator("link[rel=alternate]").get_attribute("href")
    window.page.fill("#q", "acme/river-8b")
    window.page.select_option("#without", "")
    assert rows(window) == ["RiverForCausalLM"]
    window.page.fill("#q", "nobody")
    assert window.page.locator("#empty").is_visible()
    again = visit()
    again.page.goto(f"{site}/matrix/toy/0.11?with=state_cache")
    assert rows(again) == ["RiverForCausalLM", "RiverTextForCausalLM"]


def test_an_error_is_pasted_diagnosed_and_leads_to_the_launch_check(visit, site):
    window = visit()
    window.page.goto(f"{site}/check?engine=toy")
    window.page.click("text=Paste the error")
    window.page.fill("#log", TRACEBACK)
    window.page.select_option("[name=release]", "0.10")
    window.page.select_option("[name=checkpoint]", "acme/river-8b")
    window.page.select_option("[name=gpu]", "alpha")
    window.page.click("text=Diagnose")
    window.page.wait_for_url("**/diagnose?q=*")
    assert window.text("#failure") == "IndexError in Tree.grow"
    assert "Trees of six levels" in window.text(".finding h3")
    window.page.click("text=Check this launch")
    assert "Does not start" in window.text("#verdict")


def test_a_group_unfolds_in_place_and_keeps_the_filter(visit, site):
    window = visit()
    window.page.goto(f"{site}/matrix/toy/0.11")
    window.page.fill("#q", "river")
    window.page.wait_for_url("**?q=river")
    window.page.click(GROUP)
    window.page.wait_for_selector(".caps")
    assert "open=parallel" in window.page.url
    assert "q=river" in window.page.url
    assert rows(window) == ["RiverForCausalLM", "RiverTextForCausalLM"]
    window.page.fill("#q", "stone")
    assert rows(window) == ["StoneDraftModel", "StoneForCausalLM"]
    window.page.go_back()
    window.page.wait_for_selector(".caps", state="detached")
    assert rows(window) == ["RiverForCausalLM", "RiverTextForCausalLM"]


def test_everything_is_reached_by_keyboard(visit, site):
    window = visit()
    page = window.page
    page.goto(f"{site}/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("/")
    page.keyboard.type("pipeline")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=pipeline")
    page.click(".hits a")
    page.wait_for_url("**/capabilities/toy/0.11/pipeline")
    page.focus(".picker summary")
    page.keyboard.press("Enter")
    assert page.locator(".picker nav").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator(".picker nav").is_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/capabilities/toy/0.10.post1/pipeline")


def test_a_launch_is_checked_by_keyboard_alone_and_the_verdict_has_the_focus(visit, site):
    window = visit()
    page = window.page
    page.goto(f"{site}/check")
    page.focus("#command")
    page.keyboard.type("--shard-size 2")
    page.fill("#config", RIVER_CONFIG)
    page.select_option("[name=gpu]", "alpha")
    page.focus("form.check-form button.primary")
    page.keyboard.press("Enter")
    page.wait_for_selector("#verdict")
    page.wait_for_function("document.activeElement.id === 'verdict'")
    assert "/check?q=" in page.url
    page.wait_for_selector("#strip li")
    assert page.locator("#strip li").count() == 4
    page.reload(wait_until="networkidle")
    assert page.input_value("#command") == "--shard-size 2"
    assert "RiverForCausalLM" in page.input_value("#config")


def test_a_file_is_dropped_and_the_command_copied(visit, site):
    window = visit(permissions=["clipboard-read", "clipboard-write"])
    page = window.page
    page.goto(f"{site}/check")
    page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.items.add(new File([text], "config.json", {type: "application/json"}));
          const drop = new DragEvent("drop", {dataTransfer: data, cancelable: true});
          document.querySelector("#config").dispatchEvent(drop);
        }""",
        RIVER_CONFIG,
    )
    page.wait_for_function("document.querySelector('#config').value.includes('RiverForCausalLM')")
    page.fill("#command", "--shard-size 2")
    page.click("form.check-form button.primary")
    page.click("text=Copy")
    page.wait_for_selector("text=Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "python -m toy.serve --shard-size 2"


def test_a_body_too_large_is_said_in_place_and_what_was_typed_stays(visit, site):
    window = visit()
    page = window.page
    page.goto(f"{site}/check")
    page.fill("#command", "--shard-size 2")
    page.evaluate("document.querySelector('#config').value = '{'.padEnd(2.2e6, 'x')")
    page.click("form.check-form button.primary")
    page.wait_for_selector("#answer .problem")
    assert "larger than 2 MiB" in window.text("#answer .problem")
    assert page.input_value("#command") == "--shard-size 2"
    window.complaints = [one for one in window.complaints if "413" not in one]


def test_settings_are_narrowed_down_and_shown_in_full(visit, site):
    window = visit()
    page = window.page
    page.goto(site + PAGES["check-answered"], wait_until="networkidle")
    some = page.locator("#settings tr[data-row]:visible").count()
    page.check(".show-all")
    everything = page.locator("#settings tr[data-row]:visible").count()
    assert everything > some
    page.fill("[data-filter='#settings']", "--shard-size")
    assert page.locator("#settings tr[data-row]:visible").count() == 1


def test_without_script_everything_is_read_and_a_launch_checked(visit, site):
    window = visit(java_script_enabled=False)
    page = window.page
    for path in PAGES.values():
        page.goto(site + path)
        assert page.locator("h1, h2").first.inner_text()
    page.goto(f"{site}/matrix/toy/0.11")
    page.fill("#q", "river")
    page.select_option("#with", "state_cache")
    page.click("text=Filter")
    assert rows(window) == ["RiverForCausalLM", "RiverTextForCausalLM"]
    page.click(GROUP)
    assert page.locator(".caps th").count() == 1
    page.goto(f"{site}/check")
    page.fill("#command", "--shard-size 2")
    page.fill("#config", RIVER_CONFIG)
    page.select_option("[name=gpu]", "alpha")
    page.click("form.check-form button.primary")
    assert page.locator("#verdict").is_visible()
    page.click("text=Check the same launch on every release")
    assert page.locator(".strip li").count() == 4
    window.complaints = [one for one in window.complaints if "422" not in one]


def test_nothing_that_is_pasted_runs(visit, site):
    window = visit()
    page = window.page
    page.goto(f"{site}/check")
    for field in ("#command", "#config"):
        page.fill(field, EVIL)
    page.click("form.check-form button.primary")
    page.wait_for_selector(".problem")
    page.goto(f"{site}/matrix/toy/0.11")
    page.fill("#q", EVIL)
    page.fill(".find input", EVIL)
    page.press(".find input", "Enter")
    page.wait_for_url("**/search?**")
    page.goto(f"{site}/overrides")
    for name in ("releases", "capability", "architecture", "family", "value", "reason", "token"):
        page.fill(f"form.stack [name={name}]", EVIL)
    page.click("text=Lay it on top")
    page.wait_for_selector("#problem")
    window.complaints = [one for one in window.complaints if "status of 4" not in one]


def test_nothing_moves_while_a_page_loads(visit, site):
    window = visit()
    for name in ("start", "matrix", "check-answered", "architecture"):
        window.page.goto(site + PAGES[name], wait_until="networkidle")
        shift = window.page.evaluate(
            """() => new Promise((done) => {
              let sum = 0;
              new PerformanceObserver((list) => list.getEntries().forEach((one) => { sum += one.value; }))
                .observe({type: "layout-shift", buffered: true});
              setTimeout(() => done(sum), 200);
            })"""
        )
        assert shift < 0.05, name
