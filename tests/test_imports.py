"""Who may import whom; imports inside functions count."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MATH = sorted((ROOT / "posviz").glob("*.py"))
FIGURES = sorted((ROOT / "posviz" / "figures").rglob("*.py"))
UI = sorted((ROOT / "posviz" / "ui").rglob("*.py"))
MODELS = sorted((ROOT / "posviz" / "models").rglob("*.py"))
VIEWS = sorted((ROOT / "posviz" / "views").rglob("*.py"))
PAGES = sorted((ROOT / "pages").rglob("*.py"))
APP = [path for path in [ROOT / "app.py"] if path.exists()]
EVERYTHING = [*MATH, *FIGURES, *UI, *MODELS, *VIEWS, *PAGES, *APP]
MATH_MODULES = {f"posviz.{path.stem}" for path in MATH if path.stem != "__init__"}


def dotted(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def is_module(name):
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or path.is_dir()


def imports(source, package=()):
    """Every module that ``source`` imports, wherever it does, as (dotted name, at top level)."""
    tree = ast.parse(source)
    within = {
        child
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                below = f"{base}.{alias.name}"
                names.append(below if is_module(below) else base)
        elif isinstance(node, ast.Call):
            called = node.func
            name = getattr(called, "attr", None) or getattr(called, "id", None)
            first = node.args[0] if node.args else None
            if name in ("import_module", "__import__") and isinstance(first, ast.Constant):
                names = [first.value]
        found += [(name, node not in within) for name in names]
    return found


def imported_by(path):
    parts = dotted(path)
    package = parts if path.stem == "__init__" else parts[:-1]
    return imports(path.read_text(encoding="utf-8"), package)


def offences(paths, forbidden):
    return [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in paths
        for name, _ in imported_by(path)
        for bad in forbidden
        if name == bad or name.startswith(f"{bad}.")
    ]


def test_the_walk_sees_every_way_to_import():
    source = (
        "import a\n"
        "from b.c import d\n"
        "from . import params\n"
        "from posviz import rope as r\n"
        "def f():\n"
        "    import e.f as g\n"
        "    importlib.import_module('h')\n"
        "    return lambda: __import__('i')\n"
        "if TYPE_CHECKING:\n"
        "    from .params import shown\n"
    )
    assert sorted(imports(source, ("posviz",))) == [
        ("a", True),
        ("b.c", True),
        ("e.f", False),
        ("h", False),
        ("i", False),
        ("posviz.params", True),
        ("posviz.params", True),
        ("posviz.rope", True),
    ]


def test_the_modules_are_where_the_rules_look():
    assert {"posviz.params", "posviz.rope", "posviz.rope_scaling", "posviz.alibi"} <= MATH_MODULES
    assert [path.name for path in APP] == ["app.py"]
    assert FIGURES
    assert UI
    assert VIEWS
    assert PAGES


@pytest.mark.parametrize("path", MATH, ids=lambda path: path.stem)
def test_math_imports_only_the_standard_library_numpy_and_math(path):
    for name, _ in imported_by(path):
        top = name.partition(".")[0]
        allowed = top in sys.stdlib_module_names or top == "numpy" or name in MATH_MODULES
        assert allowed, f"{path.name} imports {name}"


def test_figures_know_neither_streamlit_nor_torch_nor_pages():
    assert not offences(
        FIGURES, ["streamlit", "torch", "pages", "app", "posviz.ui", "posviz.views"]
    )


def test_pages_compute_and_draw_nothing_themselves():
    assert not offences([*VIEWS, *PAGES], ["numpy", "plotly", "torch"])


def test_views_draw_no_widgets_and_what_pages_share_knows_no_view():
    assert not offences(VIEWS, ["streamlit", "posviz.ui.page", "pages", "app"])
    assert not offences(UI, ["posviz.views"])


def test_models_know_no_user_interface():
    assert not offences(
        MODELS, ["streamlit", "pages", "app", "posviz.ui", "posviz.figures", "posviz.views"]
    )


def test_nothing_imports_a_page_or_the_app():
    assert not offences(EVERYTHING, ["pages", "app"])


def test_streamlit_appears_only_in_the_user_interface():
    assert not offences([*MATH, *FIGURES, *MODELS, *VIEWS], ["streamlit"])


def test_torch_is_imported_at_top_level_only_by_models():
    for path in EVERYTHING:
        if path not in MODELS:
            for name, at_top in imported_by(path):
                assert not (at_top and name.partition(".")[0] == "torch"), path


def test_importing_the_math_loads_no_streamlit_plotly_or_torch():
    program = (
        "import importlib, sys\n"
        f"for name in {['posviz', *sorted(MATH_MODULES)]!r}: importlib.import_module(name)\n"
        "print(*sorted({'streamlit', 'plotly', 'torch', 'pandas'} & set(sys.modules)))\n"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert loaded.stdout.split() == []


def test_the_package_lists_every_module_of_the_core() -> None:
    import posviz

    found = {path.stem for path in (ROOT / "posviz").glob("*.py")} - {"__init__"}
    assert set(posviz.__all__) == found
    assert dir(posviz) == posviz.__all__ == sorted(posviz.__all__)
    assert posviz.rope.inv_freq(4, 100.0).tolist() == [1.0, 0.1]
