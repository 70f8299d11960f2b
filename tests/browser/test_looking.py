"""What the browser tests look at can be found wanting: each look sees a fault where there is one."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.looking import Watched, contrasts, faults, hard_to_read, pictures_without_words

pytestmark = pytest.mark.browser


def test_contrast_is_that_of_wcag(context: BrowserContext) -> None:
    page = context.new_page()
    page.set_content(
        """<div style="background:#fff"><p style="color:#000">black</p><p style="color:#777">grey</p>
        <div style="background:rgba(0,0,0,.5)"><p style="color:#fff">on half black</p></div>
        <svg><style>text { fill: red }</style><text style="fill:#fff">white in a figure</text></svg></div>"""
    )
    ratios = contrasts(page.locator("div").first)
    assert ratios == {"black": 21.0, "grey": 4.48, "on half black": 3.98, "white in a figure": 1.0}
    assert hard_to_read(page.locator("div").first).keys() == {"grey", "on half black", "white in a figure"}
    with pytest.raises(ValueError, match="no text"):
        hard_to_read(page.locator("svg style"))
    page.close()


def test_a_picture_without_words_is_found(context: BrowserContext) -> None:
    page = context.new_page()
    page.set_content(
        """<svg role="img" aria-label="a bar"></svg><img alt="a plot" src="data:,"><svg aria-hidden="true"></svg>
        <svg id="mute"></svg><img id="bare" src="data:,"><svg id="no-role" aria-label="a bar"></svg>"""
    )
    found = pictures_without_words(page.locator("body"))
    assert len(found) == 3
    for name in ("mute", "bare", "no-role"):
        assert any(f'id="{name}"' in picture for picture in found)
    page.close()


def test_errors_and_requests_are_noted(context: BrowserContext) -> None:
    watched = Watched(context)
    page = context.new_page()
    with page.expect_event("requestfailed"), page.expect_event("pageerror"):
        page.set_content(
            "<script>console.error('complaint'); fetch('http://away.invalid/'); throw Error('thrown')</script>"
        )
    assert watched.hosts == {"away.invalid"}
    assert any("complaint" in error for error in watched.errors)
    assert any("thrown" in error for error in watched.errors)
    page.close()


def test_axe_finds_a_serious_fault_and_looks_nowhere_else(context: BrowserContext) -> None:
    page = context.new_page()
    page.set_content(
        """<html lang="en"><div id="named"><label>B <input type="range"></label></div>
        <div id="nameless"><div role="slider" tabindex="0" aria-valuenow="1"></div><img src="data:,"></div>
        <div id="empty"></div></html>"""
    )
    assert faults(page.locator("#named")) == []
    found = faults(page.locator("#nameless"))
    assert [fault.split(":")[0] for fault in found] == ["aria-input-field-name (serious)", "image-alt (critical)"]
    with pytest.raises(ValueError, match="nothing to look at"):
        faults(page.locator("#empty"))
    page.close()
