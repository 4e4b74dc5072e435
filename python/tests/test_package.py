"""The wheel, its types, its documentation and its notebooks."""

import ast
import doctest
import importlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import pibinn
from pibinn import _core
from conftest import ROOT

PACKAGE = ROOT / "python" / "pibinn"
WHEEL = os.environ.get("PIBINN_WHEEL", "")
needs_wheel = pytest.mark.skipif(not WHEEL, reason="scripts/check-python names the wheel it built")
MODULES = ["", ".operator", ".model", ".estimator", ".solvers", ".datasets", ".studies", ".plots",
           ".certificate"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module("pibinn" + name)
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0
    if name not in (".studies", ".plots", ".certificate"):
        assert found.attempted > 0


def blocks(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_the_code_of_a_page_runs_as_written(page, tmp_path):
    """Blocks run one after the other in a process of their own, as a reader would."""
    code = blocks(page)
    assert code
    script = "if __name__ == '__main__':\n" + "\n".join(
        "    " + line for line in "\n".join(code).splitlines())
    (tmp_path / "page.py").write_text(script)
    run = subprocess.run([sys.executable, "-W", "ignore", "page.py"], cwd=tmp_path,
                         capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "Agg"})
    assert run.returncode == 0, run.stderr


def test_the_readme_shows_ten_lines_of_python():
    [code] = blocks("README.md")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10


NOTEBOOKS = sorted((ROOT / "python" / "notebooks").glob("*.ipynb"))


def test_there_are_four_notebooks():
    assert [n.stem for n in NOTEBOOKS] == ["eeg", "photos", "radio-channels", "synthetic"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_as_written_and_shows_a_picture(path, tmp_path):
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    book = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(book, timeout=60, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    kinds = [kind for cell in book.cells for output in cell.get("outputs", [])
             for kind in output.get("data", {})]
    assert "image/png" in kinds
    stored = nbformat.read(path, as_version=4)
    assert any(cell.get("outputs") for cell in stored.cells), "save it with its outputs"


def test_types_are_checked_by_mypy(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    run = subprocess.run([sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml",
                          "--cache-dir", tmp_path, PACKAGE], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


def stub_functions():
    tree = ast.parse((PACKAGE / "_core.pyi").read_text())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    yield f"{node.name}.{item.name}", item


def test_the_stub_names_what_the_module_has():
    told = {name.split(".")[0] for name, _ in stub_functions()}
    has = {name for name in dir(_core) if not name.startswith("_")}
    assert told == has
    for name, node in stub_functions():
        owner, _, own = name.rpartition(".")
        found = getattr(getattr(_core, owner) if owner else _core, own)
        arguments = [a.arg for a in node.args.posonlyargs + node.args.args if a.arg != "self"]
        signature = (found.__doc__ or "").splitlines()[0] if callable(found) else ""
        if signature.startswith(own + "("):
            real = re.findall(r"[(,] ?(\w+):", re.sub(r"\[[^]]*\]", "", signature))
            assert [a for a in real if a != "self"] == arguments, name


@needs_wheel
def test_the_wheel_holds_the_package_and_its_types():
    with zipfile.ZipFile(WHEEL) as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read(next(n for n in names if n.endswith("METADATA"))).decode()
    assert {"pibinn/py.typed", "pibinn/_core.pyi", "pibinn/__init__.py"} <= names
    assert sum("_core" in name and name.endswith(".so") for name in names) == 1
    assert "Requires-Python: >=3.11" in metadata
    assert f"Version: {pibinn.__version__}\n" in metadata


def test_the_version_is_that_of_the_library():
    text = (ROOT / "CMakeLists.txt").read_text()
    assert re.search(r"project\(pibinn VERSION (\S+)", text)[1] == pibinn.__version__


@needs_wheel
def test_auditwheel_makes_it_a_wheel_of_manylinux(tmp_path):
    """Repaired, it carries its libraries along, and recovers from a folder of its own."""
    repair = [sys.executable, "-m", "auditwheel", "repair", WHEEL, "-w", str(tmp_path)]
    run = subprocess.run(repair, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    [wheel] = tmp_path.glob("*manylinux*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "unpacked")
    code = ("import numpy as np, pibinn; print(pibinn.__file__); "
            "m = pibinn.Model.untrained(np.eye(2, 3)); print(m.recover(np.ones(2)).shape)")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                         cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path / "unpacked")})
    assert run.returncode == 0, run.stderr
    assert str(tmp_path) in run.stdout and "(3,)" in run.stdout


def test_help_reads_as_a_page():
    text = pibinn.UnrolledRecovery.__doc__
    assert text.index("Parameters") < text.index("Attributes") < text.index("Examples")
    assert max(map(len, text.splitlines())) <= 100


def test_importing_is_quick_and_takes_no_scikit_learn():
    code = "import sys, pibinn; print('sklearn' in sys.modules, 'torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False False\n"
    with pytest.raises(AttributeError, match="nothing"):
        pibinn.nothing
    assert "UnrolledRecovery" in dir(pibinn)


def test_pictures_are_drawn(data, net):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from pibinn import plots
    assert plots.plot_history(net).lines and plots.plot_layers(net).lines
    x = net.predict(data.test_measurements[:1])[0]
    assert plots.plot_signal(data.test_signals[0], x).lines
    with pytest.raises(pibinn.UsageError):
        plots.plot_signal(np.ones(3), np.ones(4))
