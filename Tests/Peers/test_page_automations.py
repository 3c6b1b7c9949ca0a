"""Automations on the page in Chromium, as on a phone: made in the editor, run, looked at, switched off and deleted."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.gateway import Gateway
from peers.home_page import opened, send
from peers.polling import eventually
from playwright.sync_api import Browser, Locator, Page, expect


@pytest.fixture(scope="module")
def home(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    devices = {
        "lamp": {"name": "Lamp", "type": "DimmableLight"},
        "door": {"name": "Door", "type": "ContactSensor"},
    }
    running = Gateway(binary, tmp_path_factory.mktemp("automations"), [], {"devices": devices})
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


@pytest.fixture(scope="module")
def structure(home: Gateway) -> str:
    return str(home.client.get("/v1/structures")["structures"][0]["id"])


def automations(home: Gateway, structure: str) -> list[dict[str, Any]]:
    return list(home.client.get(f"/v1/structures/{structure}/automations")["automations"])


def is_on(home: Gateway) -> bool:
    parts = home.client.get("/v1/devices/lamp")["endpoints"]
    return any(part["traits"].get("OnOff", {}).get("onOff") for part in parts)


def make_in_editor(page: Page) -> Locator:
    """Makes an automation as a person does: when the door opens, if the lamp is off, then switch it on."""
    page.get_by_role("button", name="Automations").click()
    dialog = page.locator("dialog.automations-dialog")
    expect(dialog).to_contain_text("No automations yet")
    dialog.get_by_role("button", name="New automation").click()
    editor = page.locator("dialog.editor-dialog")
    editor.get_by_label("Name").fill("Light at the door")
    when = editor.get_by_role("region", name="When")
    when.get_by_role("button", name="Add a starter").click()
    when.get_by_label("Device").select_option(label="Door")
    when.get_by_label("What", exact=True).select_option(label="Closed or open")
    when.get_by_label("Value").select_option(label="open")
    condition = editor.get_by_role("region", name="If")
    condition.get_by_role("button", name="Add a condition").click()
    condition.get_by_label("What", exact=True).select_option(label="Lamp")
    condition.get_by_label("Which").select_option(label="On or off")
    condition.get_by_label("Value").select_option(label="off")
    then = editor.get_by_role("region", name="Then")
    then.get_by_role("button", name="Add a step").click()
    then.get_by_label("Device").select_option(label="Lamp")
    then.get_by_label("Does").select_option(label="Turn on")
    then.get_by_role("button", name="Add a step").click()
    # An hour too much: the gateway says so at this step.
    step = then.get_by_role("group", name="Step 2")
    step.get_by_label("Then").select_option(label="wait")
    step.get_by_label("For", exact=True).fill("25")
    step.get_by_label("For: unit").select_option(label="hours")
    assert editor.evaluate("node => node.scrollWidth <= node.clientWidth")
    editor.get_by_role("button", name="Save").click()
    expect(step.get_by_role("alert").first).to_contain_text("24 hours")
    step.get_by_role("button", name="Remove step 2").click()
    editor.get_by_role("button", name="Save").click()
    expect(editor).to_have_count(0)
    return dialog


def delete(page: Page, details: Locator) -> None:
    details.get_by_role("button", name="Delete").click()
    page.locator("dialog.ask").get_by_role("button", name="Delete").click()
    expect(details).to_have_count(0)


def test_an_automation_is_made_changed_switched_off_and_deleted(
    browser: Browser, home: Gateway, structure: str
) -> None:
    with opened(browser, home) as page:
        dialog = make_in_editor(page)
        row = dialog.locator("li.automation", has_text="Light at the door")
        expect(row).to_contain_text("It has not run yet")
        made = automations(home, structure)[0]
        assert [node["type"] for node in made["automationGraph"]["nodes"]] == [
            "attributeStarter",
            "condition",
            "stateReader",
            "condition",
            "action",
        ]
        row.get_by_role("button", name="Light at the door", exact=True).click()
        details = page.locator("dialog.automation-dialog")
        details.get_by_role("button", name="Edit").click()
        editor = page.locator("dialog.editor-dialog")
        then = editor.get_by_role("region", name="Then")
        expect(then.get_by_label("Does")).to_have_value(re.compile("command OnOff on"))
        then.get_by_label("Does").select_option(label="Turn off")
        editor.get_by_role("button", name="Save").click()
        expect(editor).to_have_count(0)
        changed = automations(home, structure)[0]
        assert changed["automationGraph"]["nodes"][-1]["command"] == "off"
        assert changed["automationGraph"]["nodes"][:-1] == made["automationGraph"]["nodes"][:-1]
        assert details.evaluate("node => node.scrollWidth <= node.clientWidth")
        details.get_by_role("switch").click()
        expect(details.locator(".automation-state").first).to_have_text("Off")
        assert automations(home, structure)[0]["isActive"] is False
        delete(page, details)
        expect(row).to_have_count(0)
        assert automations(home, structure) == []


def test_a_run_is_followed_and_its_path_is_drawn(browser: Browser, home: Gateway, structure: str) -> None:
    with opened(browser, home) as page:
        row = make_in_editor(page).locator("li.automation", has_text="Light at the door")
        send(home, "POST", "/v1/devices/door/traits/BooleanState/report", stateValue=True)
        send(home, "POST", "/v1/devices/door/traits/BooleanState/report", stateValue=False)
        eventually(lambda: is_on(home), "the automation switches the lamp on")
        expect(row).not_to_contain_text("It has not run yet")
        row.get_by_role("button", name="Light at the door", exact=True).click()
        details = page.locator("dialog.automation-dialog")
        details.locator("details.run > summary").first.click()
        path = details.locator(".run-path").first
        expect(path.locator(".flow > li[data-status=passed]", has_text="Turn on: Lamp")).to_be_visible()
        # The lamp is on, so a person who runs it sees where it ends.
        details.get_by_role("button", name="Run Light at the door").click()
        expect(details.locator("details.run")).to_have_count(3)
        details.locator("details.run > summary").first.click()
        ended = details.locator(".run-path").first.locator(".flow > li[data-status=ended]")
        expect(ended).to_contain_text("ended here")
        expect(ended).to_contain_text("Lamp is off")
        details.get_by_role("button", name="Explain").click()
        expect(details.locator(".explanation")).not_to_have_text(re.compile("^(Looking.*)?$"))
        assert details.evaluate("node => node.scrollWidth <= node.clientWidth")
        delete(page, details)


def post(home: Gateway, structure: str, name: str, *nodes: dict[str, Any]) -> str:
    graph = {"version": 1, "nodes": list(nodes)}
    return str(send(home, "POST", f"/v1/structures/{structure}/automations", name=name, automationGraph=graph)["id"])


def on_lamp(home: Gateway, kind: str, **more: Any) -> dict[str, Any]:
    lamp = home.client.get("/v1/devices/lamp")["id"]
    return {"type": kind, "entity": {"device": lamp}, "trait": "OnOff"} | more


def test_a_run_is_stopped_on_the_page(browser: Browser, home: Gateway, structure: str) -> None:
    made = post(home, structure, "Long", {"type": "manualStarter"}, {"type": "delay", "for": 3600},
                on_lamp(home, "action", command="off"))  # fmt: skip
    with opened(browser, home) as page:
        page.get_by_role("button", name="Automations").click()
        row = page.locator(f'[data-automation="{made}"]')
        expect(row.get_by_role("button", name="Stop Long")).to_be_hidden()
        row.get_by_role("button", name="Run Long").click()
        expect(row.get_by_role("button", name="Run Long")).to_be_hidden()
        row.get_by_role("button", name="Stop Long").click()
        expect(row.get_by_role("button", name="Run Long")).to_be_visible()
        expect(row).to_contain_text("stopped")
    (run,) = home.client.get(f"/v1/automations/{made}/runs")["runs"]
    assert run["end"] == "stopped"
    assert home.client.request("DELETE", f"/v1/automations/{made}").status == 204


def test_an_automation_that_starts_too_often_is_released_on_the_page(
    browser: Browser, home: Gateway, structure: str
) -> None:
    made = post(home, structure, "Busy", on_lamp(home, "attributeStarter", id="n1"))
    with opened(browser, home) as page:
        page.get_by_role("button", name="Automations").click()
        row = page.locator(f'[data-automation="{made}"]')
        release = row.get_by_role("button", name="Release Busy")
        expect(release).to_be_hidden()
        toggle = {"deviceID": "lamp", "trait": "OnOff", "command": "toggle", "parameters": {}}
        send(home, "POST", "/v1/commands", commands=[toggle] * 21)
        expect(row).to_contain_text("aused")
        release.click()
        expect(release).to_be_hidden()
        expect(row).not_to_contain_text("aused")
    assert not home.client.get(f"/v1/automations/{made}")["isPaused"]
    assert home.client.request("DELETE", f"/v1/automations/{made}").status == 204


def test_an_automation_that_somebody_else_deletes_leaves_the_list(
    browser: Browser, home: Gateway, structure: str
) -> None:
    made = post(home, structure, "Short", {"type": "manualStarter"})
    with opened(browser, home) as page:
        page.get_by_role("button", name="Automations").click()
        row = page.locator(f'[data-automation="{made}"]')
        expect(row).to_be_visible()
        assert home.client.request("DELETE", f"/v1/automations/{made}").status == 204
        expect(row).to_have_count(0)


def test_a_suggestion_is_tried_on_the_past_days_and_kept(browser: Browser, home: Gateway, structure: str) -> None:
    for person in (True, False):
        send(home, "POST", f"/v1/structures/{structure}/presence", person="Ana", isHome=person)
    with opened(browser, home) as page:
        page.get_by_role("button", name="Automations").click()
        page.locator("dialog.automations-dialog").get_by_role("button", name="New automation").click()
        editor = page.locator("dialog.editor-dialog")
        editor.get_by_role("button", name="Lights off when everybody has left").click()
        expect(editor.get_by_label("Name")).to_have_value("Lights off when everybody has left")
        expect(editor.get_by_role("region", name="Then").get_by_label("Does")).to_have_value(
            re.compile("command OnOff off")
        )
        editor.get_by_role("button", name="Try it on the past 7 days").click()
        # Ana has come once and left once.
        expect(editor.locator(".trial")).to_contain_text("it would have run 2 times")
        expect(editor.locator(".trial li", has_text="turn Lamp off")).to_have_count(1)
        expect(editor.locator(".trial li", has_text="nothing sent")).to_have_count(1)
        assert editor.evaluate("node => node.scrollWidth <= node.clientWidth")
        editor.get_by_role("button", name="Save").click()
        expect(editor).to_have_count(0)
    (made,) = automations(home, structure)
    assert made["name"] == "Lights off when everybody has left" and made["isActive"]
    assert home.client.request("DELETE", f"/v1/automations/{made['id']}").status == 204


def test_a_graph_that_is_more_than_the_editor_shows_is_renamed_and_not_damaged(
    browser: Browser, home: Gateway, structure: str
) -> None:
    lamp = home.client.get("/v1/devices/lamp")["id"]
    reader = {"type": "attributeStarter", "id": "lamp", "entity": {"device": lamp}, "trait": "OnOff"}
    is_off = {"not": [{"equals": [{"field": "onOff", "of": {"reference": "lamp"}}, {"constant": True}]}]}
    action = {"type": "action", "entity": {"device": lamp}, "trait": "OnOff", "command": "off"}
    graph = {"version": 1, "nodes": [reader, {"type": "condition", "expression": is_off}, action]}
    draft: dict[str, Any] = {"name": "Odd", "description": "", "isActive": False, "automationGraph": graph}
    made = send(home, "POST", f"/v1/structures/{structure}/automations", **draft)
    with opened(browser, home) as page:
        page.get_by_role("button", name="Automations").click()
        page.get_by_role("button", name="Odd", exact=True).click()
        details = page.locator("dialog.automation-dialog")
        details.get_by_role("button", name="Edit").click()
        editor = page.locator("dialog.editor-dialog")
        expect(editor).to_contain_text("too complex to edit on this page")
        expect(editor).to_contain_text("not (On or off of Lamp is on)")
        editor.get_by_label("Name").fill("Even")
        editor.get_by_role("button", name="Save").click()
        expect(editor).to_have_count(0)
        expect(details.locator("h2")).to_have_text("Even")
        kept = home.client.get(f"/v1/automations/{made['id']}")
        assert (kept["name"], kept["automationGraph"]) == ("Even", graph)
        delete(page, details)


def test_an_automation_of_somebody_else_says_whose_it_is_and_is_not_edited(
    browser: Browser, home: Gateway, structure: str
) -> None:
    other = send(home, "POST", "/v1/tokens", name="other", grants=[{"scopes": ["automate"]}])
    draft = {"name": "Theirs", "automationGraph": {"version": 1, "nodes": [{"type": "manualStarter"}]}}
    answer = home.client.request(
        "POST", f"/v1/structures/{structure}/automations", json.dumps(draft), {"Content-Type": "application/json"},
        token=other["token"],
    )  # fmt: skip
    made = answer.json["id"]
    with opened(browser, home) as page:
        page.get_by_role("button", name="Automations").click()
        row = page.locator(f'[data-automation="{made}"]')
        expect(row).to_contain_text("Belongs to")
        row.get_by_role("button", name="Theirs", exact=True).click()
        details = page.locator("dialog.automation-dialog")
        expect(details).to_contain_text("Only its owner can change it")
        expect(details.get_by_role("button", name="Edit")).to_be_hidden()
        expect(details.get_by_role("button", name="Delete")).to_be_visible()
    assert home.client.request("DELETE", f"/v1/automations/{made}").status == 204


def test_a_token_without_the_scope_has_no_automations(browser: Browser, home: Gateway) -> None:
    made = send(home, "POST", "/v1/tokens", name="guest", grants=[{"scopes": ["read", "control"]}])
    with opened(browser, home, made["token"]) as page:
        expect(page.get_by_role("button", name="History", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Automations")).to_be_hidden()


def test_where_a_home_is_can_be_set(browser: Browser, home: Gateway, structure: str) -> None:
    with opened(browser, home) as page:
        page.get_by_role("button", name="Rooms of Home").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Degrees north").fill("52.5")
        dialog.get_by_label("Degrees east").fill("13.4")
        dialog.get_by_label("Time zone").fill("Europe/Berlin")
        dialog.get_by_role("button", name="Save the location").click()

        def is_set() -> bool:
            known = home.client.get(f"/v1/structures/{structure}")
            return [known.get(name) for name in ("latitude", "longitude", "timeZone")] == [52.5, 13.4, "Europe/Berlin"]

        eventually(is_set, "the home knows where it is")
