"""A skip that nobody listed fails; a listed one stands outside CI only."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import skips, traces

TESTS = Path(__file__).parent


@pytest.fixture
def run_in_ci(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("CI", "true")
    pytester.makeconftest((TESTS / "conftest.py").read_text())
    return pytester


def test_an_unlisted_skip_fails_everywhere() -> None:
    assert not skips.allowed("Skipped: I did not feel like it", ci=False)
    assert not skips.allowed("Skipped: I did not feel like it", ci=True)


def test_a_missing_browser_is_a_skip_outside_ci_and_a_failure_in_it() -> None:
    reason = f"Skipped: no Chromium: {skips.OUTSIDE_CI_ONLY['no Chromium']}"
    assert skips.allowed(reason, ci=False)
    assert not skips.allowed(reason, ci=True)


def test_missing_traces_are_a_skip_everywhere() -> None:
    reason = f"Skipped: no traces: {skips.ALLOWED_IN_CI['no traces']}"
    assert skips.allowed(reason, ci=False)
    assert skips.allowed(reason, ci=True)
    assert not skips.allowed("Skipped: no traces: none today", ci=True)


def test_traces_that_are_named_but_not_there_are_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(traces.VARIABLE, str(tmp_path))
    with pytest.raises(
        AssertionError, match="LLMSERVING_TRACES names .*, but there is no AzureLLMInferenceTrace_conv.csv"
    ):
        traces.need_azure("conv")
    monkeypatch.delenv(traces.VARIABLE)
    with pytest.raises(pytest.skip.Exception, match="^no traces: "):
        traces.need_azure("conv")


def test_a_run_in_ci_with_an_unlisted_skip_is_red(run_in_ci: pytest.Pytester) -> None:
    run_in_ci.makepyfile(test_it="import pytest\n\ndef test_nothing():\n    pytest.skip('later')\n")
    result = run_in_ci.runpytest("test_it.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*does not allow it here*later*"])


def test_a_run_in_ci_without_chromium_is_red(run_in_ci: pytest.Pytester) -> None:
    run_in_ci.makepyfile(test_it="from tests import skips\n\ndef test_page():\n    skips.skip('no Chromium')\n")
    run_in_ci.runpytest("test_it.py").assert_outcomes(failed=1)


MODULE_WITHOUT_TORCH = (
    "from tests import skips\n\nskips.skip('no torch', whole_module=True)\n\ndef test_it():\n    pass\n"
)


def test_a_whole_module_is_skipped_outside_ci(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile(test_it=MODULE_WITHOUT_TORCH)
    pytester.runpytest("test_it.py").assert_outcomes(skipped=1)


def test_a_whole_module_without_torch_is_red_in_ci(run_in_ci: pytest.Pytester) -> None:
    run_in_ci.makepyfile(test_it=MODULE_WITHOUT_TORCH)
    result = run_in_ci.runpytest("test_it.py")
    assert result.ret != 0
    result.assert_outcomes(errors=1)
