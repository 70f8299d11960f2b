"""A release holds what a learner needs and nothing of the answers; the list of releases says what was handed out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from grader.claims import check_claims
from grader.class_folder import ClassFolder
from grader.course import notebooks_in
from grader.errors import NotGraded, UserError
from grader.release import release
from grader.releases import Release, read_releases
from grader.roster import read_roster
from grader.roster_news import what_the_roster_changed
from llmserving.exercises import EXERCISES
from llmserving.exercises.statement import statement_markdown

from tests.grader.submissions import cell_of, new_class, small_course


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> ClassFolder:
    """The whole course, with outputs and widget state stored in the instructor's version, released."""
    notebooks = small_course(tmp_path_factory.mktemp("course"))
    for path in notebooks.rglob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text="a stored output")]
                cell.execution_count = 7
        nbformat.write(notebook, path)
        path.write_text(path.read_text().rstrip("\n") + "\n")
    return new_class(tmp_path_factory.mktemp("classes") / "class", notebooks, "L1", "L2", roster="ada\nbob\n")


def released(folder: ClassFolder) -> list[Path]:
    paths = sorted(folder.root.glob("release/**/*.ipynb")) + sorted(folder.root.glob("personal/**/*.ipynb"))
    assert len(paths) > 10
    return paths


def test_no_solution_and_no_stored_output(folder: ClassFolder) -> None:
    for path in released(folder):
        assert not any(word in path.read_text() for word in ("SOLUTION", "a stored output", "widget-state")), path
        for cell in nbformat.read(path, as_version=4).cells:
            assert cell.get("execution_count") is None
            assert cell.get("outputs", []) == []


def test_answer_cells_keep_their_names_and_no_blank_line(folder: ClassFolder) -> None:
    notebook = nbformat.read(folder.root / "release" / "L2" / "kv_size.ipynb", as_version=4)
    source = cell_of(notebook, "answer", "L2.1").source
    assert source.splitlines()[1:] == ["L2_1_kv_gb = ..."]


def test_locked_cells_are_locked_and_answers_are_not(folder: ClassFolder) -> None:
    notebook = nbformat.read(folder.root / "release" / "L2" / "kv_size.ipynb", as_version=4)
    for role in ("statement", "check"):
        assert cell_of(notebook, role, "L2.1").metadata["editable"] is False
    answer = cell_of(notebook, "answer", "L2.1").metadata
    assert "editable" not in answer
    assert answer["deletable"] is False


def test_personal_copies_carry_each_learners_numbers(folder: ClassFolder) -> None:
    for learner in ("ada", "bob"):
        path = folder.root / "personal" / learner / "L2" / "kv_size.ipynb"
        notebook = nbformat.read(path, as_version=4)
        assert cell_of(notebook, "statement", "L2.1").source == statement_markdown(EXERCISES["L2.1"], learner)
        assert notebook.metadata["llmserving"]["learner"] == learner
        for page in ("START_HERE.ipynb", "GLOSSARY.ipynb"):
            assert (folder.root / "personal" / learner / page).exists()


def test_every_notebook_states_the_release_that_the_list_names(folder: ClassFolder) -> None:
    for level in ("L1", "L2"):
        (row,) = read_releases(folder.root, level)
        assert row.learners == ["ada", "bob"]
        for path in (*notebooks_in(folder.root / "release" / level), *folder.root.glob(f"personal/*/{level}/*.ipynb")):
            assert nbformat.read(path, as_version=4).metadata["llmserving"]["release"] == row.version


def test_the_roster_is_in_the_gradebook(folder: ClassFolder) -> None:
    with folder.gradebook as gradebook:
        assert {student.id for student in gradebook.students} == {"ada", "bob"}


def test_the_same_content_has_the_same_version(folder: ClassFolder) -> None:
    before = read_releases(folder.root, "L2")
    assert "the same content as before" in release(folder, ["L2"])[0]
    (after,) = read_releases(folder.root, "L2")
    assert (after.version, after.learners) == (before[0].version, before[0].learners)


def test_nothing_is_released_while_a_notebook_is_out_of_step(tmp_path: Path) -> None:
    notebooks = small_course(tmp_path / "course", "L2/kv_size")
    folder = new_class(tmp_path / "class", notebooks)
    path = notebooks / "L2" / "kv_size.ipynb"
    path.write_text(path.read_text().replace("How large is the KV cache?", "How large was the KV cache?"))
    with pytest.raises(UserError, match=r"L2/kv_size.ipynb must be rendered first: python -m grader render"):
        release(folder, ["L2"])
    assert not (folder.root / "release" / "L2").exists()


def test_a_release_that_fails_leaves_the_one_before(tmp_path: Path) -> None:
    notebooks = small_course(tmp_path / "course", "L2/kv_size")
    folder = new_class(tmp_path / "class", notebooks, "L2")
    released_path = folder.root / "release" / "L2" / "kv_size.ipynb"
    before = released_path.read_text()
    path = notebooks / "L2" / "kv_size.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_markdown_cell("### BEGIN SOLUTION\nforgotten here\n### END SOLUTION"))
    path.write_text(nbformat.writes(notebook) + "\n")
    with pytest.raises(UserError, match="L2 was not released: .*Solution region detected in a non-solution cell"):
        release(folder, ["L2"])
    assert released_path.read_text() == before
    assert len(read_releases(folder.root, "L2")) == 1


@pytest.mark.parametrize(
    ("roster", "why"),
    [
        ("ada\n../bob\n", "cannot be used: a learner id"),
        ("ada\nAda\n", "'Ada' twice"),
        ("Stra\xdfe\nSTRASSE\n", "'STRASSE' twice"),
        ("Zo\xeb\nZoe\u0308\n", "'Zo\xeb' twice"),
        ("default\n", "the course's own numbers"),
        ("\n", "names nobody"),
        ("name,mail\nAda,a@b\n", "none is headed `id`"),
    ],
)
def test_a_roster_that_cannot_be_used_is_refused(tmp_path: Path, roster: str, why: str) -> None:
    (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
    with pytest.raises(UserError, match=why):
        read_roster(tmp_path / "roster.csv")


def test_a_roster_from_a_spreadsheet_brings_names(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text("\ufeffid,last_name,group\nada,Lovelace,3\n\n", encoding="utf-8")
    assert read_roster(tmp_path / "roster.csv") == {"ada": {"last_name": "Lovelace"}}


def test_a_roster_that_is_not_saved_as_utf_8_is_refused_with_what_helps(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_bytes("Zo\xeb\n".encode("cp1252"))
    with pytest.raises(UserError, match="is not saved as UTF-8, .* a spreadsheet saves it so as 'CSV UTF-8'"):
        read_roster(tmp_path / "roster.csv")


COURSE_S, ADA_AND_BOB = None, ["ada", "bob"]


@pytest.mark.parametrize(
    ("before", "learners", "submitted", "told"),
    [
        (COURSE_S, None, ["ada"], []),
        (ADA_AND_BOB, ["bob", "ada"], ["ada"], []),
        (ADA_AND_BOB, ["ada", "bob", "late"], ["ada"], ["new on the roster: late"]),
        (
            ADA_AND_BOB,
            ["ada"],
            [],
            [
                "not on the roster any more: bob; what they have in personal/ stays, but needs attention when they hand it in; "
                "a release with a roster that names them again puts it right"
            ],
        ),
        (
            ADA_AND_BOB,
            ["cem"],
            ["bob"],
            [
                "new on the roster: cem",
                "not on the roster any more: ada, bob; what they have in personal/ stays, but needs attention when they hand "
                "it in (bob: handed in already); a release with a roster that names them again puts it right",
            ],
        ),
        (
            COURSE_S,
            ["ada", "bob"],
            ["ada", "cem"],
            [
                "the learners on the roster have numbers of their own from now on; a copy with the course's numbers, as handed "
                "out before, needs attention when one of them hands it in (ada: handed in already)"
            ],
        ),
        (ADA_AND_BOB, [*ADA_AND_BOB, *map(str, range(12))], [],
         ["new on the roster: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"]),
    ],
)  # fmt: skip
def test_another_roster_says_who_is_new_who_is_gone_and_whose_copies_do_not_fit(
    before: list[str] | None, learners: list[str] | None, submitted: list[str], told: list[str]
) -> None:
    assert what_the_roster_changed(a_release("v1", before), learners, submitted) == told


def test_a_release_with_another_roster_tells_of_each_level(tmp_path: Path) -> None:
    folder = new_class(tmp_path / "class", small_course(tmp_path / "course", "L2/kv_size"), "L2", roster="ada\nbob\n")
    assert len(release(folder, ["L2"])) == 1
    assert len(release(folder, ["L2"], {"ada": {}, "bob": {}, "late": {}})) == 2
    _, news = release(folder, ["L2"], {"ada": {}, "late": {}})
    assert news.startswith("L2  not on the roster any more: bob; ")
    assert (folder.root / "personal" / "bob" / "L2" / "kv_size.ipynb").exists()
    assert len(release(folder, ["L2"])) == 1


def a_release(version: str, learners: list[str] | None = None, **exercises: int) -> Release:
    return Release("L2", version, "2026-01-01", learners, exercises)


@pytest.mark.parametrize(
    ("claims", "releases", "why"),
    [
        ({"learner": "bob", "release": "v1"}, [a_release("v1")], "made for 'bob', .* the course's own numbers"),
        ({"learner": "bob", "release": "v1"}, [a_release("v1", ["ada"])], "made for 'bob', .* was made for ada"),
        ({"learner": "default", "release": "v1"}, [a_release("v1", ["ada"])], "made for 'default'"),
        ({"learner": "default", "release": "v0"}, [a_release("v1")], "'v0' of L2, which is not in releases.json"),
        ({"release": ["v1"]}, [a_release("v1")], "which is not in releases.json"),
        ({"release": "v1"}, [a_release("v1", x=1), a_release("v2", x=2)], "the exercises have changed since, in v2"),
    ],
)
def test_claims_that_do_not_fit_need_attention(claims: Any, releases: list[Release], why: str) -> None:
    with pytest.raises(NotGraded, match=why):
        check_claims(claims, "ada", releases)


def test_claims_that_fit_or_are_missing_are_graded() -> None:
    assert check_claims({"learner": "ada", "release": "v1"}, "ada", [a_release("v1", ["ada"])]) == []
    assert check_claims({"learner": "default", "release": "v1"}, "ada", [a_release("v1"), a_release("v2")]) == []
    on_no_roster = check_claims(
        {"learner": "default", "release": "v1"}, "carl", [a_release("v1"), a_release("v1", ["ada"])]
    )
    assert on_no_roster == [], "the class's copy is still the one that carl was given"
    assert a_release("v1", ["ada"]).learner_of("carl") == "default"
    (note,) = check_claims({}, "ada", [a_release("v1")])
    assert "does not say which release" in note


def test_the_list_of_releases_is_plain_json(folder: ClassFolder) -> None:
    rows = json.loads((folder.root / "releases.json").read_text())["releases"]
    assert {row["assignment"] for row in rows} == {"L1", "L2"}
