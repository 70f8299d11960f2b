"""The README's pictures, each of the course as it is: `make pictures`.

The browser is driven by the same helpers as in tests/browser; the terminal's picture is set from what the commands said.
"""

from __future__ import annotations

import html
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, FloatRect, Locator, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests import skips  # noqa: E402
from tests.browser.formgrader import open_formgrader, open_submissions  # noqa: E402
from tests.browser.jupyter import THEMES, Lab, Theme, jupyter_lab  # noqa: E402
from tests.browser.notebook_page import open_notebook, shut_side_bar  # noqa: E402
from tests.browser.small_class import LEVEL, make_class, say  # noqa: E402
from tests.browser.touring import answer_wrongly, leave_the_explorer, move_the_control  # noqa: E402
from tests.browser.tours import TOURS, Tour  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
MARGIN = 8.0

TERMINAL = """<body style="margin:0;background:#fff"><pre style="margin:0;padding:20px 24px;width:max-content;
background:#f6f8fa;color:#1f2328;font:13px/1.5 'DejaVu Sans Mono',monospace">{}</pre></body>"""


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=skips.need_chromium())
        picture_the_learner(browser, folder)
        picture_the_instructor(browser, folder)
        browser.close()


def picture_the_learner(browser: Browser, folder: Path) -> None:
    learn = folder / "learn"
    say(ROOT, "grader", "learn", str(learn))
    with jupyter_lab(learn, folder / "learner") as lab:
        context = new_context(browser, width=960, height=1000)
        picture_the_slider(context, lab, learn)
        picture_the_mistake(context, lab, learn)
        context.close()
        for theme in THEMES:
            lab.use_theme(theme)
            context = new_context(browser, width=860, height=1000)
            for level, tour in TOURS.items():
                picture_a_level(context, lab, learn, level, tour, theme)
            context.close()


def picture_the_slider(context: BrowserContext, lab: Lab, learn: Path) -> None:
    notebook = open_notebook(context, lab, learn, "L1/two_phases.ipynb")
    shut_side_bar(notebook.page)
    output = notebook.run("first-explorer")
    notebook.walk_to("first-explorer")
    notebook.tab_to(output.get_by_role("slider").first)
    while "Does not fit" not in (sentence := output.get_by_role("status").inner_text()):
        notebook.press("ArrowRight")
        expect(output.get_by_role("status")).not_to_have_text(sentence)
    panel = box_of(notebook.page.locator("#jp-main-dock-panel"))
    bottom = box_of(notebook.cell("first-explorer"))
    clip = FloatRect(
        x=0, y=0, width=panel["x"] + panel["width"] + MARGIN, height=bottom["y"] + bottom["height"] + MARGIN
    )
    save(notebook.page, "learner_slider.png", clip)


def picture_the_mistake(context: BrowserContext, lab: Lab, learn: Path) -> None:
    notebook = open_notebook(context, lab, learn, "L2/kv_size.ipynb")
    shut_side_bar(notebook.page)
    notebook.write_answer("l2-1-answer", "0.537")
    notebook.run_active("l2-1-answer")
    card = notebook.run_active("l2-1-check").get_by_role("group")
    expect(card).to_be_visible()
    first, last = box_of(notebook.cell("l2-1-statement")), box_of(card)
    height = last["y"] + last["height"] + MARGIN / 2 - first["y"]  # just above the frame of the next cell
    save(
        notebook.page, "learner_mistake.png", FloatRect(x=first["x"], y=first["y"], width=first["width"], height=height)
    )


def picture_a_level(context: BrowserContext, lab: Lab, learn: Path, level: str, tour: Tour, theme: Theme) -> None:
    """Its explorer with a control moved, and below it the card of a wrong answer."""
    notebook = open_notebook(context, lab, learn, f"{tour.notebook}.ipynb")
    shut_side_bar(notebook.page)
    explorer = move_the_control(notebook, tour).locator(".jp-OutputArea-output").screenshot()
    leave_the_explorer(notebook, tour)
    card, sentence = answer_wrongly(notebook, tour)
    expect(card).to_contain_text(sentence)
    above, below = (Image.open(io.BytesIO(taken)).convert("RGB") for taken in (explorer, card.screenshot()))
    size = (max(above.width, below.width), above.height + below.height + round(2 * MARGIN))
    both = Image.new("RGB", size, above.getpixel((0, 0)))
    both.paste(above, (0, 0))
    both.paste(below, (0, size[1] - below.height))
    keep(both, PICTURES / f"{level}_{theme}.png")
    notebook.page.close()
    lab.stop_kernels()


def picture_the_instructor(browser: Browser, folder: Path) -> None:
    course = make_class(folder / "class")
    said = [
        f"$ python -m grader {command} {LEVEL}\n{say(course, 'grader', command, LEVEL)}"
        for command in ("grade", "report")
    ]
    width, height = 1280, 620
    context = new_context(browser, width, height)
    terminal = context.new_page()
    terminal.set_content(TERMINAL.format(html.escape("\n".join(said).rstrip())))
    save(terminal, "instructor_grade.png", box_of(terminal.locator("pre")))
    with jupyter_lab(course, folder / "instructor", cwd=course) as lab:
        page = context.new_page()
        frame = open_formgrader(page, lab)
        shut_side_bar(page)
        open_submissions(frame, LEVEL, 4)
        save(page, "instructor_formgrader.png", FloatRect(x=0, y=0, width=width, height=height))
    context.close()


def new_context(browser: Browser, width: int, height: int) -> BrowserContext:
    return browser.new_context(viewport={"width": width, "height": height}, device_scale_factor=2)


def box_of(locator: Locator) -> FloatRect:
    box = locator.bounding_box()
    assert box is not None, f"{locator} is not on the page"
    return box


def save(page: Page, name: str, clip: FloatRect) -> None:
    taken = page.screenshot(clip=clip, full_page=page.url == "about:blank")
    keep(Image.open(io.BytesIO(taken)).convert("RGB"), PICTURES / name)


def keep(picture: Image.Image, path: Path) -> None:
    """In 256 colours: a third of the size, and to the eye the same."""
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
