"""Arrays as users have them, and those that must be refused."""

import io
import resource
import subprocess
import zipfile

import numpy as np
import pytest

from conftest import PROGRAM, load, refuse, run, succeed, tree

MODEL = "model.safetensors"


def recover(work, name):
    succeed("recover", MODEL, "--in", name, "--out", "out.npy", cwd=work)
    return load(work / "out.npy")


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "<i2", ">i2", "<u4", ">i8", "<f2", ">f4", "<f8",
                                   ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_numbers_in_any_order_give_float32(dtype, order, work):
    whole = np.random.default_rng(0).integers(0, 2, size=(4, 6))
    np.save(work / "f.npy", whole.astype("<f4"))
    np.save(work / "any.npy", np.asarray(whole.astype(dtype), order=order))
    expected = recover(work, "f.npy")
    found = recover(work, "any.npy")
    assert found.dtype == np.float32 and found.flags.c_contiguous
    assert np.any(expected != 0)
    np.testing.assert_array_equal(found, expected)


def test_one_row_may_be_a_vector_and_archives_are_read(work):
    y = load(work / "y.npy")
    np.save(work / "row.npy", y[0])
    np.testing.assert_array_equal(recover(work, "row.npy"), recover(work, "y.npy")[:1])
    np.savez_compressed(work / "pair.npz", a=np.ones(3), y=y)
    np.testing.assert_array_equal(recover(work, "pair.npz:y"), recover(work, "y.npy"))


def npy_with(header, payload):
    text = header.encode("latin-1")
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + payload


def header(shape, descr="'<f4'"):
    return "{'descr': %s, 'fortran_order': False, 'shape': %s, }\n" % (descr, shape)


def archive(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as z:
        for name, content in files.items():
            z.writestr(name + ".npy", content)
    return buffer.getvalue()


GOOD = npy_with(header("(1, 6)"), bytes(24))
BAD_NPY = {
    "empty": b"",
    "short": b"\x93NUMPY",
    "text": b"1,2,3\n",
    "truncated": GOOD[:-1],
    "too long": GOOD + b"\0",
    "header beyond the file": b"\x93NUMPY\x01\x00\xff\xff{",
    "version 9": b"\x93NUMPY\x09\x00" + GOOD[8:],
    "huge": npy_with(header("(4294967296, 4294967296)"), b""),
    "wraps to zero": npy_with(header("(9223372036854775808, 2)"), b""),
    "negative": npy_with(header("(-1, 6)"), bytes(24)),
    "three axes": npy_with(header("(1, 1, 6)"), bytes(24)),
    "no shape": npy_with("{'descr': '<f4', 'fortran_order': False}\n", bytes(24)),
    "not a dictionary": npy_with("[]\n", b""),
    "unknown type": npy_with(header("(1, 6)", "'<q9'"), bytes(24)),
    "record": npy_with(header("(1, 6)", "[('a', '<f4')]"), bytes(24)),
    "bytes of no text": npy_with("\xff\xfe\x00\n\x1b[31m", b""),
}


@pytest.mark.parametrize("what", BAD_NPY)
def test_a_damaged_npy_is_refused(what, work):
    (work / "bad.npy").write_bytes(BAD_NPY[what])
    assert "bad.npy" in refuse("recover", MODEL, "--in", "bad.npy", "--out", "x.npy", cwd=work)


def bad_npz():
    good = archive(y=GOOD)
    lying = bytearray(good)
    at = lying.rfind(b"PK\x01\x02")
    lying[at + 24:at + 28] = (0xfffffff0).to_bytes(4, "little")
    crc = bytearray(good)
    crc[good.find(GOOD) + len(GOOD) - 1] ^= 1
    return {
        "empty": b"",
        "not a zip": b"PK\x03\x04 nothing",
        "truncated": good[:-30],
        "lying length": bytes(lying),
        "wrong crc": bytes(crc),
        "bad array": archive(y=GOOD[:-1]),
        "huge array": archive(y=BAD_NPY["huge"]),
        "no arrays": archive(),
        "two arrays": archive(y=GOOD, z=GOOD),
    }


@pytest.mark.parametrize("what", bad_npz())
def test_a_damaged_npz_is_refused(what, work):
    (work / "bad.npz").write_bytes(bad_npz()[what])
    assert "bad.npz" in refuse("recover", MODEL, "--in", "bad.npz", "--out", "x.npy", cwd=work)


@pytest.mark.parametrize("values, words", [
    (np.ones((2, 6), complex), ["complex"]),
    (np.full((2, 6), "a"), []),
    (np.array([[1, None, 3, 4, 5, 6]], object), []),
    (np.array([[1, 2, 3, np.nan, 5, 6]]), ["row 0, column 3"]),
    (np.array([[1, 2, 3, 4, 5, -np.inf]]), ["row 0, column 5"]),
    (np.full((2, 6), 1e300), ["too large"]),
    (np.ones((2, 5)), ["expected 6 measurements", "got 5"]),
    (np.ones((6, 2)), ["transposed"]),
    (np.ones((0, 6)), ["0 rows"]),
    (np.ones(0), ["0 rows"]),
    (np.ones(()), []),
])
def test_measurements_that_do_not_fit_are_refused(values, words, work):
    np.save(work / "bad.npy", values, allow_pickle=True)
    line = refuse("recover", MODEL, "--in", "bad.npy", "--out", "x.npy", cwd=work)
    for word in ["bad.npy", *words]:
        assert word in line


def test_missing_and_strange_inputs_are_refused(work):
    (work / "folder.npy").mkdir()
    for name in ("missing.npy", "folder.npy", "y.txt", "y.npz:a", "new\nline.npy"):
        refuse("recover", MODEL, "--in", name, "--out", "x.npy", cwd=work)
    np.savez(work / "a.npz", measured=np.ones((2, 6)))
    line = refuse("recover", MODEL, "--in", "a.npz:mesured", "--out", "x.npy", cwd=work)
    assert "did you mean 'measured'?" in line


def test_eval_refuses_signals_that_do_not_fit(work):
    def line(*more):
        return refuse("eval", MODEL, "--signals", *more, cwd=work)

    np.save(work / "zero.npy", np.zeros((3, 10)))
    assert "all 3 signals" in line("zero.npy")
    np.save(work / "narrow.npy", np.ones((3, 9)))
    assert "expected 10 signal entries" in line("narrow.npy")
    np.save(work / "none.npy", np.ones((0, 10)))
    assert "0 rows" in line("none.npy")
    np.save(work / "few.npy", np.ones((4, 6)))
    assert "5 signals but 4 measurements" in line("x.npy", "--measurements", "few.npy")


@pytest.mark.parametrize("operator, options, words", [
    (np.ones((4, 6)), [], ["expected 4 measurements", "got 6"]),
    (np.zeros((6, 10)), [], ["is zero"]),
    (np.ones((6, 10)), ["--structure", "blocks", "--repeat", "2"], ["row 0, column 5"]),
    (np.ones((6, 10)), ["--structure", "blocks", "--repeat", "4"], ["4 equal blocks"]),
    (np.ones((6, 10)), ["--structure", "repeatd"], ["did you mean 'repeated'?"]),
    (np.ones((6, 10)), ["--repeat", "0"], ["--repeat 0"]),
    (np.ones((6, 10)), ["--sparsity", "2"], ["--sparsity", "fista"]),
    (np.ones((6, 10)), ["--lambda", "1", "--relative", "1"], ["both given"]),
    (np.ones((6, 10)), ["--lambda", "-1"], ["lambda -1"]),
    (np.ones((6, 10)), ["--iterations", "0"], ["0 iterations"]),
    (np.ones((6, 10)), ["--tolerance", "nan"], ["tolerance nan"]),
    (np.ones((6, 10)), ["--signals", "y.npy"], ["expected 10 signal entries"]),
    (np.ones((6, 10)), ["--signals", "A.npy"], ["5 measurements but 6 signals"]),
])
def test_solve_refuses_what_does_not_fit(operator, options, words, work):
    np.save(work / "A.npy", operator)
    line = refuse("solve", "--solver", "fista", "--operator", "A.npy", "--in", "y.npy", "--out",
                  "s.npy", *options, cwd=work)
    for word in words:
        assert word in line


OUTPUTS = ["missing/x.npy", "y.npy/x.npy", ".", "x.txt", "/proc/x.npy", "/dev/full"]


@pytest.mark.parametrize("out", OUTPUTS)
def test_an_output_that_cannot_be_written_is_refused(out, work):
    refuse("recover", MODEL, "--in", "y.npy", "--out", out, cwd=work)
    refuse("solve", "--solver", "omp", "--operator", "A.npy", "--in", "y.npy", "--out", out,
           cwd=work)


def test_other_outputs_that_cannot_be_written_are_refused(work):
    refuse("sample", "--out", "y.npy/data", cwd=work)
    refuse("sample", "--out", "y.npy", cwd=work)
    refuse("demo", "--out", "y.npy", cwd=work)
    refuse("init", "--out", "missing/m.safetensors", cwd=work)
    refuse("export", MODEL, "--to", "npz", "--out", "missing/m.npz", cwd=work)
    refuse("recover", MODEL, "--in", "y.npy", "--out", "x.npy", "--json", "missing/r.json",
           cwd=work)
    line = refuse("recover", MODEL, "--in", "y.npy", "--out", "x.npy", "--layers", "all", cwd=work)
    assert ".npz" in line


def test_a_full_screen_is_noticed(work):
    with open("/dev/full", "w") as full:
        result = subprocess.run([str(PROGRAM), "inspect", MODEL], cwd=work, stdout=full,
                                stderr=subprocess.PIPE, text=True, timeout=60)
    assert result.returncode == 2 and "standard output" in result.stderr


def test_a_disk_that_fills_up_midway_leaves_nothing(work):
    np.save(work / "many.npy", np.ones((2000, 6)))
    before = tree(work)

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

    # Python ignores SIGXFSZ; passed on, the limit shows as a failed write, as a full disk does.
    result = run("recover", MODEL, "--in", "many.npy", "--out", "x.npy", cwd=work,
                 preexec_fn=small_files, restore_signals=False)
    assert result.returncode == 2 and "cannot write 'x.npy'" in result.stderr
    assert tree(work) == before


def test_an_output_that_exists_is_replaced_whole(work):
    (work / "x.npy").write_bytes(b"old")
    (work / "x.npy").chmod(0o644)
    assert recover(work, "y.npy").shape == (5, 10)
    succeed("recover", MODEL, "--in", "y.npy", "--out", "x.npy", cwd=work)
    assert load(work / "x.npy").shape == (5, 10)
    assert not [name for name in tree(work) if "tmp" in name]
