"""The wheel, its types, its documentation and its notebooks."""

import ast
import doctest
import email
import importlib
import importlib.metadata
import inspect
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest

import pibinn
from pibinn import _core
from conftest import ROOT

PACKAGE = ROOT / "python" / "pibinn"
WHEEL = os.environ.get("PIBINN_WHEEL", "")
needs_wheel = pytest.mark.skipif(not WHEEL, reason="skipped: no wheel; scripts/check-python makes one")
MODULES = ["", ".operator", ".model", ".estimator", ".solvers", ".datasets", ".studies", ".plots",
           ".certificate"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    module = importlib.import_module("pibinn" + name)
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0
    if name != ".certificate":
        assert found.attempted > 0


def test_every_function_has_an_example():
    """Functions, and what else makes a public object; certificates come of a model's methods."""
    offered = [getattr(pibinn, name) for name in pibinn.__all__]
    for module in (pibinn.datasets, pibinn.solvers, pibinn.plots):
        offered += [getattr(module, name) for name in module.__all__]
    offered += [getattr(pibinn.Operator, name)
                for name in ("repeated", "blocks", "random", "formula", "convolution")]
    told = [thing for thing in offered if inspect.isroutine(thing)
            or thing in (pibinn.Model, pibinn.Operator, pibinn.UnrolledRecovery)]
    missing = [thing.__qualname__ for thing in told if ">>> " not in (thing.__doc__ or "")]
    assert missing == [] and len(told) > 20


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
    nbformat = pytest.importorskip("nbformat", reason="skipped: nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="skipped: nbclient is not installed")
    book = nbformat.read(path, as_version=4)
    # The time of all cores, which other work on the machine does not stretch.
    book.cells.append(nbformat.v4.new_code_cell("import time; print(time.process_time())"))
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert float(book.cells[-1].outputs[0]["text"]) < 60, "each notebook takes less than a minute"
    kinds = [kind for cell in book.cells for output in cell.get("outputs", [])
             for kind in output.get("data", {})]
    assert "image/png" in kinds
    stored = nbformat.read(path, as_version=4)
    assert any(cell.get("outputs") for cell in stored.cells), "save it with its outputs"


def test_types_are_checked_by_mypy(tmp_path):
    pytest.importorskip("mypy", reason="skipped: mypy is not installed")
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


ONLY_DECLARED = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, pibinn
data = pibinn.datasets.synthetic(m=20, n=40, operator="rademacher", train=200, test=50)
net = pibinn.UnrolledRecovery(data.operator, n_layers=3, max_epochs=3)
net.fit(data.measurements, data.signals)
print(net.score(data.test_measurements, data.test_signals) > 0.5, pibinn.__file__)
print(pibinn.solvers.omp(data.operator, data.test_measurements).shape)
try:
    pibinn.plots.plot_history(net)
except ImportError as error:
    print(error)
"""


def declared(requirements):
    """Names of distributions that are needed without extras, and of what these need."""
    from packaging.requirements import Requirement
    found, left = set(), list(requirements)
    while left:
        need = Requirement(left.pop())
        if (need.marker is None or need.marker.evaluate({"extra": ""})) and need.name not in found:
            found.add(need.name)
            left += importlib.metadata.requires(need.name) or []
    return found


@needs_wheel
def test_what_the_wheel_declares_is_enough(tmp_path):
    """Nothing but the wheel, what it names and what that names; no site-packages at all."""
    with zipfile.ZipFile(WHEEL) as wheel:
        wheel.extractall(tmp_path)
        metadata = next(n for n in wheel.namelist() if n.endswith("METADATA"))
        needs = email.message_from_string(wheel.read(metadata).decode()).get_all("Requires-Dist")
    names = declared(needs)
    assert {"numpy", "scikit-learn", "scipy"} <= names and "matplotlib" not in names
    for name in names:
        distribution = importlib.metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files if ".." not in file.parts}:
            link = tmp_path / top
            if not link.exists():
                link.symlink_to(distribution.locate_file(top))
    run = subprocess.run([sys.executable, "-I", "-S", "-W", "ignore", "-c", ONLY_DECLARED,
                          str(tmp_path)], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0] == f"True {tmp_path / 'pibinn' / '__init__.py'}" and lines[1] == "(50, 40)"
    assert lines[2] == "pictures need matplotlib; pip install pibinn[plots]"


def test_the_metadata_of_cibuildwheel_names_what_is_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["cibuildwheel"]
    for command in (wheel["test-command"], wheel["linux"]["before-all"]):
        named = re.findall(r"\{project\}/(\S+)", command)
        assert named and all((ROOT / name).exists() for name in named)
    assert set(wheel["test-extras"]) <= set(project["project"]["optional-dependencies"])
    assert any("musllinux" in pattern for pattern in wheel["skip"])
    script = ROOT / wheel["linux"]["before-all"].removeprefix("{project}/")
    assert os.access(script, os.X_OK)
    # A dependency that docs/python.md names to those who compile is installed by it too.
    page = (ROOT / "docs" / "python.md").read_text()
    packages = set(re.findall(r"\blib[\w-]+-dev\b|\b\S+json3-dev\b|zlib1g-dev", page))
    assert len(packages) > 8 and all(name in script.read_text() for name in packages)


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
    matplotlib = pytest.importorskip("matplotlib", reason="skipped: matplotlib is not installed")
    matplotlib.use("Agg")
    from pibinn import plots
    assert plots.plot_history(net).lines and plots.plot_layers(net).lines
    x = net.predict(data.test_measurements[:1])[0]
    assert plots.plot_signal(data.test_signals[0], x).lines
    with pytest.raises(pibinn.UsageError):
        plots.plot_signal(np.ones(3), np.ones(4))
