"""Drop-down lists of explorers: their arrow is seen in both themes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import BrowserContext, Locator

from tests.browser.jupyter import THEMES, Lab, Theme
from tests.browser.notebook_page import open_notebook
from tests.browser.tours import TOURS

LEAST_CONTRAST = 3.0  # WCAG 2, level AA, for parts of controls
ARROW_WIDTH = 20


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.usefixtures("quiet_and_at_home")
@pytest.mark.parametrize("theme", THEMES)
def test_the_arrow_of_a_list_stands_out_in_either_theme(
    theme: Theme, context: BrowserContext, lab: Lab, learn: Path
) -> None:
    lab.use_theme(theme)
    tour = TOURS["L5"]
    notebook = open_notebook(context, lab, learn, f"{theme}/{tour.notebook}.ipynb")
    lists = notebook.run(tour.explorer).locator("select")
    assert lists.count() > 0
    for one in lists.all():
        assert _contrast_of_the_arrow(one) >= LEAST_CONTRAST
    notebook.page.close()
    lab.stop_kernels()


def _contrast_of_the_arrow(one: Locator) -> float:
    """Between the lightest and the darkest that is drawn at the right end of a list, inside its border."""
    picture = Image.open(io.BytesIO(one.screenshot())).convert("RGB")
    arrow = picture.crop((picture.width - ARROW_WIDTH, 4, picture.width - 4, picture.height - 4))
    darkest, *_, lightest = sorted(_luminance(*colour) for colour in zip(*[iter(arrow.tobytes())] * 3, strict=True))
    return (lightest + 0.05) / (darkest + 0.05)


def _luminance(*colour: int) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (value / 255 for value in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
