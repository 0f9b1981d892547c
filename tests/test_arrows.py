"""Who may import whom, and the other rules of the house that a machine can keep."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT

#: Folder -> the folders of ours that it may import besides itself.
MAY_IMPORT = {
    "kb": set(),
    "ingest": {"kb"},
    "query_lang": {"kb"},
    "engine": {"kb", "query_lang"},
    "eval": {"kb", "ingest", "query_lang", "engine"},
}
#: Rooms with a leave of their own. The checker of proofs reads notes again, and nothing of the rest needs it.
ROOMS_MAY_IMPORT = {"engine.proofs.checker": {"ingest"}}
SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for folder in MAY_IMPORT
    for path in sorted((ROOT / folder).rglob("*.py"))
}


def name_of(dotted: str) -> str:
    """The name by which a module is imported: ``kb.__init__`` is ``kb``."""
    return dotted.removesuffix(".__init__")


MODULES = {name_of(dotted): path for dotted, path in SOURCES.items()}


def imports_of(module: str, path: Path) -> set[str]:
    """The modules of ours that a module imports, wherever in it the import stands; ``!name`` if written absolutely."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {"!" + alias.name for alias in node.names if is_ours(alias.name)}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            if is_ours(node.module or ""):
                found.add("!" + str(node.module))
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")
            base = [*above[: len(above) - node.level + 1], *(node.module or "").split(".")]
            stem = ".".join(part for part in base if part)
            for alias in node.names:
                inner = f"{stem}.{alias.name}".strip(".")
                found.add(inner if inner in MODULES else stem)
    return found - {module, ""}


def is_ours(name: str) -> bool:
    return name.partition(".")[0] in {*MAY_IMPORT, "cohortium"}


IMPORTS = {module: imports_of(module, path) for module, path in MODULES.items()}


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_every_folder_imports_only_what_the_architecture_allows(folder: str) -> None:
    """An import never points up the flow, and nothing imports ``eval``."""
    allowed = MAY_IMPORT[folder] | {folder}
    wrong = [
        f"{module} imports {target}"
        for module, targets in IMPORTS.items()
        if module.partition(".")[0] == folder
        for target in targets
        if not target.startswith("!") and target.partition(".")[0] not in allowed | leave_of(module)
    ]
    assert not wrong


def leave_of(module: str) -> set[str]:
    """The further folders that the room of a module may import."""
    return set().union(*(more for room, more in ROOMS_MAY_IMPORT.items() if module.startswith(room + ".")))


def test_the_checker_of_proofs_imports_nothing_of_the_engine() -> None:
    """What judges the engine's proofs shares no code with it; ``engine.verification`` runs both."""
    room = "engine.proofs.checker"
    checked = [module for module in IMPORTS if module.startswith(room + ".")]
    engine = {
        module: sorted(t for t in IMPORTS[module] if t.startswith("engine.") and not t.startswith(room))
        for module in checked
    }
    assert not {module: targets for module, targets in engine.items() if targets}


def test_library_modules_import_each_other_relatively() -> None:
    """No module names its own package or a sister folder absolutely (it would be loaded twice)."""
    wrong = [
        f"{module} imports {t[1:]} absolutely" for module, targets in IMPORTS.items() for t in targets if t[0] == "!"
    ]
    assert not wrong


def test_no_import_runs_in_a_circle() -> None:
    """The modules can be put in an order in which each imports only earlier ones."""
    left = {module: {t for t in targets if t in MODULES} for module, targets in IMPORTS.items()}
    while ready := {module for module, targets in left.items() if not targets & left.keys()}:
        left = {module: targets for module, targets in left.items() if module not in ready}
    assert not left, f"these modules are on a circle or import one: {sorted(left)}"


def test_nothing_imports_the_package_root() -> None:
    """The root joins what lies below it, so that an import of it would run up; the version is ``kb.version``'s."""
    wrong = [f"{module} imports {t}" for module, targets in IMPORTS.items() for t in targets if t not in MODULES]
    assert not [one for one in wrong if "!" not in one]


def rooms_of(folder: str) -> dict[str, set[str]]:
    """Each room of a folder (a folder in it, or a file at its top) with the other rooms of it that it imports."""
    found: dict[str, set[str]] = {}
    for module, targets in IMPORTS.items():
        if module.startswith(folder + "."):
            room = module.split(".")[1]
            inside = {target.split(".")[1] for target in targets if target.startswith(folder + ".")}
            found.setdefault(room, set()).update(inside - {room})
    return found


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_the_rooms_of_a_folder_form_no_circle(folder: str) -> None:
    """The rooms of each folder can be put on floors: what two rooms share lies below both."""
    left = rooms_of(folder)
    while ready := {room for room, targets in left.items() if not targets & left.keys()}:
        left = {room: targets for room, targets in left.items() if room not in ready}
    assert not left, f"these rooms are on a circle or import one: {left}"


def test_the_circle_finder_sees_a_circle() -> None:
    """Imports inside functions and relative names over folders count."""
    assert "kb.skin.terminal" in IMPORTS["engine.commands.answering"]
    assert "kb.model" in IMPORTS["query_lang.nodes"]


PYTHON_FILES = [*MODULES.values(), *ROOT.glob("*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py")]


def test_every_module_says_its_job() -> None:
    """The first docstring line of every module and package is a sentence."""
    silent = []
    for path in PYTHON_FILES:
        first = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
        if len(first.split()) < 3:
            silent.append(str(path.relative_to(ROOT)))
    assert not silent


def test_names_say_something() -> None:
    """There is no room for leftovers (``utils``, ``misc`` …), and no file bears its folder's name."""
    vague = {"utils", "util", "helpers", "misc", "common"}
    wrong = [
        str(path.relative_to(ROOT))
        for path in MODULES.values()
        if vague & set(path.relative_to(ROOT).with_suffix("").parts) or path.stem == path.parent.name
    ]
    assert not wrong


@pytest.mark.parametrize("module", ["cohortium", "cohortium.__main__", "cohortium.engine.api"])
def test_nothing_on_the_query_path_imports_slow_packages(module: str) -> None:
    """Importing the query path loads no slow library, and nothing that could reach a network."""
    slow = ("networkx", "torch", "transformers", "httpx2", "anyio")
    code = f"import sys, {module}; print([name for name in {slow} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


#: A function is no longer (lines), and has no more parameters, unless a comment right above it says why.
LONGEST, MOST_PARAMETERS = 60, 6


def oversized(source: str) -> list[str]:
    """The functions of a module that are too long or have too many parameters, and do not say why."""
    lines = source.splitlines()
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        above = min([node.lineno, *(one.lineno for one in node.decorator_list)]) - 1
        if above and lines[above - 1].lstrip().startswith("# "):
            continue
        # Options of a command are no parameters that code passes on, and what it does begins behind them.
        begins = node.body[0].lineno if is_command(node) else node.lineno
        parameters = 0 if is_command(node) else len(parameters_of(node))
        length = (node.end_lineno or begins) - begins + 1
        if length > LONGEST:
            found.append(f"{node.name}: {length} lines")
        if parameters > MOST_PARAMETERS:
            found.append(f"{node.name}: {parameters} parameters")
    return found


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    """The named parameters, without the first of a method."""
    every = function.args
    return [one for one in (*every.posonlyargs, *every.args, *every.kwonlyargs) if one.arg not in ("self", "cls")]


def is_command(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether its parameters are options of the command line."""
    return any(
        isinstance(one.annotation, ast.Subscript) and ast.unparse(one.annotation.value) == "Annotated"
        for one in parameters_of(function)
    )


def test_a_long_function_and_one_of_many_parameters_say_why() -> None:
    """A comment right above gives the reason; without one it is split by what its parts do, or takes a value."""
    wrong = {str(path.relative_to(ROOT)): oversized(path.read_text(encoding="utf-8")) for path in MODULES.values()}
    assert not {path: functions for path, functions in wrong.items() if functions}


def test_the_finder_of_oversized_functions_sees_them() -> None:
    """Keyword-only parameters count, a reason excuses, and options of a command are no parameters."""
    many = "def f(a, b, c, d, *, e, f, g): pass\n"
    assert oversized(many) == ["f: 7 parameters"]
    assert not oversized("# As many as the value has fields.\n" + many)
    assert not oversized("def f(self, a, b, c, d, e, f): pass\n")
    assert not oversized("def f(" + ", ".join(f"o{n}: Annotated[int, Option()]" for n in range(9)) + "): pass\n")
    assert oversized("def f():\n" + "    pass\n" * 60) == ["f: 61 lines"]
