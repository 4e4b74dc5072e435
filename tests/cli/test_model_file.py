"""The model file: as others read it, and as it must not be read."""

import json
import re

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from conftest import ROOT, load, refuse, succeed

MODEL = "model.safetensors"


def exported(model, folder):
    succeed("export", model, "--to", "npz", "--out", folder / "m.npz")
    return load(folder / "m.npz")


def test_the_snippet_of_the_documentation_reads_the_weights(plain, tmp_path, monkeypatch):
    page = (ROOT / "docs" / "file-format.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(snippet.splitlines()) == 8
    (tmp_path / MODEL).write_bytes(plain.read_bytes())
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(snippet, names)
    arrays = exported(tmp_path / MODEL, tmp_path)
    assert names["W"].shape == (20, 50, 100)
    for k in range(20):
        np.testing.assert_array_equal(names["W"][k].astype("f4"), arrays[f"W{k + 1}"])


def test_the_safetensors_package_reads_the_tensors(plain, tmp_path, data):
    tensors = load_file(plain)
    assert {n: (t.dtype.str, t.shape) for n, t in tensors.items()} == {
        "operator": ("<f4", (5000,)), "weights": ("|u1", (12500,)), "scales": ("<f4", (1,)),
        "theta": ("<f4", (20,))}
    a = load(data / "A.npy")
    np.testing.assert_array_equal(tensors["operator"].reshape(100, 50).T, a)
    signs = np.unpackbits(tensors["weights"], bitorder="little").reshape(20, 100, 50)
    # An untrained network has the signs of its operator in every layer.
    assert all(np.array_equal(layer.T == 1, a >= 0) for layer in signs)
    np.testing.assert_array_equal(exported(plain, tmp_path)["A"], a)


def test_ternary_codes_are_those_of_the_documentation(tmp_path):
    succeed("init", "--set", "model.weights=ternary", "--set", "model.layers=2", "--out",
            tmp_path / MODEL)
    tensors = load_file(tmp_path / MODEL)
    codes = (tensors["weights"][:, None] >> np.array([0, 2, 4, 6])) & 3
    values = np.array([0, 1, np.nan, -1])[codes.reshape(2, 100, 50)].transpose(0, 2, 1)
    arrays = exported(tmp_path / MODEL, tmp_path)
    for k in (0, 1):
        expected = (values[k] * tensors["scales"][k]).astype("f4")
        np.testing.assert_array_equal(arrays[f"W{k + 1}"], expected)
    assert {-1, 0, 1} == set(values.ravel())


@pytest.mark.parametrize("structure", ["repeated", "blocks", "mask"])
def test_other_structures_are_exported_on_their_links(structure, tmp_path):
    a = np.kron(np.eye(2), np.arange(1.0, 7).reshape(2, 3))
    np.save(tmp_path / "A.npy", a[:2, :3] if structure == "repeated" else a)
    succeed("init", "--set", "problem.operator=A.npy", "--set", f"problem.structure={structure}",
            "--set", "problem.repeat=2", "--set", "model.weights=float", "--set", "model.layers=1",
            "--out", MODEL, cwd=tmp_path)
    arrays = exported(tmp_path / MODEL, tmp_path)
    stored = a[:2, :3] if structure == "repeated" else a
    np.testing.assert_array_equal(arrays["A"], stored)
    np.testing.assert_allclose(arrays["W1"], stored / np.linalg.norm(a, 2) ** 2, rtol=1e-5)


def parts(path):
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8:8 + length]), content[8 + length:]


def assemble(header, buffer):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + buffer


def changed(change):
    """A model whose header was changed by change(header)."""
    def damage(path):
        header, buffer = parts(path)
        change(header)
        return assemble(header, buffer)
    return damage


def with_metadata(key, value):
    return changed(lambda h: h["__metadata__"].update({key: value}))


def with_network(**fields):
    def change(header):
        network = json.loads(header["__metadata__"]["pibinn.network"])
        header["__metadata__"]["pibinn.network"] = json.dumps({**network, **fields})
    return changed(change)


def with_structure(**fields):
    def change(header):
        structure = json.loads(header["__metadata__"]["pibinn.structure"])
        header["__metadata__"]["pibinn.structure"] = json.dumps({**structure, **fields})
    return changed(change)


def duplicate_name(path):
    header, buffer = parts(path)
    text = json.dumps(header)[:-1] + ', "theta": ' + json.dumps(header["theta"]) + "}"
    return assemble(text.encode(), buffer)


def nan_theta(path):
    header, buffer = parts(path)
    begin = header["theta"]["data_offsets"][0]
    return assemble(header, buffer[:begin] + np.float32("nan").tobytes() + buffer[begin + 4:])


DAMAGE = {
    "empty": lambda path: b"",
    "an array": lambda path: (path.parent / "y.npy").read_bytes(),
    "truncated": lambda path: path.read_bytes()[:-1],
    "one byte more": lambda path: path.read_bytes() + b"\0",
    "half a header": lambda path: path.read_bytes()[:100],
    "header length lies": lambda path: (2 ** 63).to_bytes(8, "little") + path.read_bytes()[8:],
    "header length of all bits": lambda path: b"\xff" * 8 + path.read_bytes()[8:],
    "bad UTF-8": lambda path: assemble(b'{"\xff\xfe": 1}', b""),
    "bad JSON": lambda path: assemble(b'{"a": ', b""),
    "deep JSON": lambda path: assemble(b'{"a":' + b"[" * 100000, b""),
    "not an object": lambda path: assemble(b"[]", b""),
    "duplicate name": duplicate_name,
    "not a number": nan_theta,
    "overlap": changed(lambda h: h["theta"].update(data_offsets=h["beta"]["data_offsets"])),
    "offsets beyond": changed(lambda h: h["theta"].update(data_offsets=[0, 2 ** 62])),
    "offsets backwards": changed(lambda h: h["theta"].update(data_offsets=[12, 0])),
    "huge shape": changed(lambda h: h["weights"].update(shape=[2 ** 40, 2 ** 40])),
    "negative shape": changed(lambda h: h["weights"].update(shape=[-1])),
    "unknown type": changed(lambda h: h["theta"].update(dtype="F31")),
    "another type": changed(lambda h: h["theta"].update(dtype="I32")),
    "tensor without name": changed(lambda h: h.update({"theta2": h.pop("theta")})),
    "no metadata": changed(lambda h: h.pop("__metadata__")),
    "no format": changed(lambda h: h["__metadata__"].pop("pibinn.format")),
    "newer format": with_metadata("pibinn.format", "4"),
    "network no JSON": with_metadata("pibinn.network", "{"),
    "network a list": with_metadata("pibinn.network", "[]"),
    "structure no JSON": with_metadata("pibinn.structure", "x\ny"),
    "more layers": with_network(layers=4),
    "a million layers": with_network(layers=10 ** 6),
    "no layers": with_network(layers=0),
    "layers a string": with_network(layers="3"),
    "other weights": with_network(weights="float"),
    "unknown weights": with_network(weights="two-bit"),
    "infinite delta": with_network(delta=None),
    "wider": with_structure(n=11),
    "huge sides": with_structure(m=2 ** 31, n=2 ** 31),
    "negative side": with_structure(m=-6),
    "unknown structure": with_structure(kind="round"),
    "a mask without pattern": with_structure(kind="mask"),
    "blocks without blocks": with_structure(kind="blocks"),
    "repetitions that do not tile": with_structure(kind="repeated", repeat=4),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_model_is_refused(what, work):
    (work / "bad.safetensors").write_bytes(DAMAGE[what](work / MODEL))
    for arguments in (["inspect", "bad.safetensors"],
                      ["recover", "bad.safetensors", "--in", "y.npy", "--out", "out.npy"]):
        refuse(*arguments, cwd=work)


def test_a_model_of_a_newer_format_says_so(work):
    (work / "new.safetensors").write_bytes(DAMAGE["newer format"](work / MODEL))
    line = refuse("recover", "new.safetensors", "--in", "y.npy", "--out", "out.npy", cwd=work)
    assert "format '4'" in line and "a newer pibinn wrote it: update this one" in line


def test_a_mask_with_a_lying_pattern_is_refused(tmp_path):
    np.save(tmp_path / "A.npy", (np.eye(4, 6) + np.eye(4, 6, 2)) * np.arange(1, 7))
    succeed("init", "--set", "problem.operator=A.npy", "--set", "problem.structure=mask", "--set",
            "model.layers=2", "--out", MODEL, cwd=tmp_path)
    tensors = load_file(tmp_path / MODEL)
    with safe_open(tmp_path / MODEL, "numpy") as file:
        metadata = file.metadata()
    for name, at, value in [("structure.rows", 0, 4), ("structure.rows", 0, 2 ** 32 - 1),
                            ("structure.offsets", 1, 2 ** 31), ("structure.offsets", 0, 1),
                            ("structure.offsets", 6, 7), ("structure.offsets", 2, 0)]:
        damaged = {n: t.copy() for n, t in tensors.items()}
        damaged[name] = damaged[name].astype("u4")
        damaged[name][at] = value
        save_file(damaged, tmp_path / "bad.safetensors", metadata)
        refuse("inspect", "bad.safetensors", cwd=tmp_path)
    save_file(tensors, tmp_path / "bad.safetensors", metadata)
    succeed("inspect", "bad.safetensors", cwd=tmp_path)


def test_metadata_cannot_speak_to_the_terminal(work):
    (work / "odd.safetensors").write_bytes(with_metadata("note", "a\x1b[31m\nb")(work / MODEL))
    text = succeed("inspect", "odd.safetensors", cwd=work)
    assert "note: a\\x1b[31m\\x0ab\n" in text
    result = json.loads(succeed("inspect", "odd.safetensors", "--json", "-", cwd=work))
    assert result["metadata"]["note"] == "a\x1b[31m\nb"


def test_a_missing_model_is_refused(work):
    assert "No such file" in refuse("inspect", "missing.safetensors", cwd=work)
    assert "folder" in refuse("inspect", ".", cwd=work)


def test_formats_of_export(work):
    line = refuse("export", MODEL, "--to", "onnx", "--out", "m.onnx", cwd=work)
    assert "not available in this version" in line
    line = refuse("export", MODEL, "--to", "npy", "--out", "m.npz", cwd=work)
    assert "did you mean 'npz'?" in line


def test_a_fully_connected_model_needs_measurements(work):
    succeed("init", "--set", "model.architecture=fcn", "--set", "model.update=plain", "--set",
            "problem.m=6", "--set", "problem.n=10", "--set", "model.layers=2", "--out",
            "fcn.safetensors", cwd=work)
    line = refuse("eval", "fcn.safetensors", "--signals", "x.npy", cwd=work)
    assert "--measurements" in line
    succeed("eval", "fcn.safetensors", "--signals", "x.npy", "--measurements", "y.npy", cwd=work)
