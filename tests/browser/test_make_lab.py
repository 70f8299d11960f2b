"""The first command of the README, as it is typed: `make lab`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.jupyter import server_options, serving
from tests.browser.notebook_page import START_HERE, NotebookPage, open_notebook
from tests.notebook_runs import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

UNSAVED = re.compile(r"\bjp-mod-dirty\b")
CHANGED, KV_SIZE = Path("L1", "two_phases.ipynb"), Path("L2", "kv_size.ipynb")


def test_make_lab_leads_to_an_answer_and_overwrites_nothing(context: BrowserContext, tmp_path: Path) -> None:
    learn = tmp_path / "learn"

    def make_lab() -> list[str]:
        # Of Jupyter's options given twice, the last one counts, and LAB_OPTIONS stands last.
        return ["make", "lab", f"LEARN={learn}", f"LAB_OPTIONS={' '.join(server_options())}"]

    with serving(make_lab(), tmp_path / "jupyter", cwd=ROOT) as lab:
        page = context.new_page()
        page.goto(lab.address("/"))
        page.wait_for_url(f"**{START_HERE}*")
        start_here = NotebookPage(page, learn / "START_HERE.ipynb")
        start_here.wait_until_ready()
        start_here.cell("overview").get_by_role("link", name="The size of the KV cache").click()
        notebook = NotebookPage(page, learn / KV_SIZE)
        notebook.wait_until_ready()
        told = _answered(notebook, "0.537")
        assert "0 of 2 points" in told
        assert "keys or values alone, where the cache keeps both" in told
        assert "right · 2 of 2 points" in _answered(notebook, "1.07")
        tab = page.get_by_role("tab", name=KV_SIZE.name)
        expect(tab).to_have_class(UNSAVED)
        notebook.press("Control+s")
        expect(tab).not_to_have_class(UNSAVED)
        page.close()

    (learn / CHANGED).write_text((learn / CHANGED).read_text().replace("Run the next cell", "My own words"))
    before = {path: path.read_bytes() for path in (learn / CHANGED, learn / KV_SIZE)}
    assert b"1.07" in before[learn / KV_SIZE]
    (learn / "L2" / "weights.ipynb").unlink()
    with serving(make_lab(), tmp_path / "jupyter", cwd=ROOT) as lab:
        again = open_notebook(context, lab, learn, KV_SIZE.as_posix())
        expect(again.cell("l2-1-answer")).to_contain_text("L2_1_kv_gb = 1.07")
        again.page.close()
    assert {path: path.read_bytes() for path in before} == before
    assert (learn / "L2" / "weights.ipynb").is_file(), "what is missing comes back"


def _answered(notebook: NotebookPage, answer: str) -> str:
    notebook.write_answer("l2-1-answer", answer)
    notebook.run_active("l2-1-answer")
    return notebook.run_active("l2-1-check").get_by_role("group").inner_text()
