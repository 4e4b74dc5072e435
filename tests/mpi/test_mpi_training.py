"""A training over ranks gives the bytes of one process."""

import json

import numpy as np
import pytest

from launch import (ENVIRONMENT, LONG, MPIRUN, OPTIONS, PROGRAM, SMALL, TIMEOUT, alone, command,
                    kill_rank, needs_mpi, run, same_files, sets, start, together)

pytestmark = needs_mpi

KINDS = {
    "one-bit": [],
    "tied, repeated": sets("model.weights=tied", "problem.structure=repeated", "problem.repeat=3",
                           "problem.m=60", "problem.n=120", "train.batch=250",
                           "train.stage.tune.epochs=4"),
    "float, blocks": sets("model.weights=float", "problem.structure=blocks", "problem.repeat=2"),
    "fully connected": sets("model.architecture=fcn", "model.weights=float", "model.update=plain"),
    "user's validation": sets("train.validation=0.1", "train.augment=none"),
    "as drawn": sets("train.augment=none", "problem.snr_db=20"),
    "rolled, one batch": sets("train.augment=roll", "problem.noise_std=0.1", "train.batch=1100"),
    # What is made of the gradients and weights of all layers, whoever owns them.
    "a scale per layer": sets("model.weights=one-bit-layer"),
    "alpha": sets("problem.support=[1,5,9]", "train.stage.joint.alpha=0.5",
                  "train.stage.stage2.alpha=0.5"),
    "paper": sets("train.recipe=paper", "train.stage.stage1.epochs=2"),
    # Fewer signals than a rank's task has rows, each of many blocks.
    "tied, few of many blocks": sets(
        "model.weights=tied", "problem.structure=repeated", "problem.repeat=48", "problem.train=50",
        "problem.test=10", "train.batch=7", "train.stage.tune.epochs=3"),
    "ternary": sets("model.weights=ternary"),
    "one-bit per channel": sets("model.weights=one-bit-channel"),
    "piecewise": sets("model.activation=piecewise"),
    "wiener": sets("model.activation=wiener"),
    "mix": sets("train.augment=mix"),
    "flip": sets("train.augment=flip"),
    "fourier": sets("problem.kind=fourier", "problem.m=16", "problem.n=32", "problem.train=300",
                    "problem.test=20", "train.batch=130"),
}
# With no key of SMALL.
OTHERS = {
    "beamspace": sets("problem.kind=beamspace", "problem.antennas=20", "problem.measurements=10",
                      "problem.paths=2", "problem.snr_db=[0,20]", "problem.train=300",
                      "problem.test=20", "model.layers=3", "model.weights=tied",
                      "model.activation=piecewise", "model.neighbours=true", "train.batch=130",
                      "train.stage.tune.epochs=3"),
    "access": sets("problem.kind=access", "problem.users=20", "problem.pilots=10",
                   "problem.activity=0.1", "problem.snr_db=10", "problem.train=300",
                   "problem.test=20", "model.layers=3", "model.weights=tied",
                   "model.activation=piecewise", "train.batch=130", "train.stage.tune.epochs=3"),
    "guaranteed": sets("train.recipe=guaranteed", "problem.m=40", "problem.n=50",
                       "problem.support=[3,11,17]", "problem.train=530", "problem.test=100",
                       "model.layers=3", "train.batch=200", "train.stage.guarantee.epochs=3"),
}


def settings(kind):
    """Without the stages that a kind has not, and with those that it has."""
    if kind in OTHERS:
        return OTHERS[kind]
    own = KINDS[kind]
    keep = [w for w in SMALL if not ("tied" in kind and w.startswith("train.stage"))]
    pairs = [(a, b) for a, b in zip(keep, keep[1:]) if a == "--set" and b != "--set"]
    if kind == "paper":
        pairs = [p for p in pairs if not p[1].startswith("train.stage.joint")]
    if kind in ("float, blocks", "fully connected"):
        pairs = [p for p in pairs if not p[1].startswith(("train.stage.joint", "train.stage.stage2"))]
    return [word for pair in pairs for word in pair] + own


@pytest.fixture(scope="module")
def one_process(tmp_path_factory):
    made = {}

    def make(kind):
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp("one") / "run"
            alone("train", *settings(kind), "--out", made[kind], cwd=made[kind].parent)
        return made[kind]
    return make


@pytest.mark.parametrize("kind, ranks", [
    ("one-bit", 1), ("one-bit", 2), ("one-bit", 3), ("one-bit", 4), ("one-bit", 7),
    ("tied, repeated", 3), ("float, blocks", 2), ("fully connected", 3), ("user's validation", 2),
    ("a scale per layer", 3), ("alpha", 3), ("paper", 2), ("as drawn", 3),
    ("rolled, one batch", 4), ("tied, few of many blocks", 3),
    ("tied, few of many blocks", 8), ("ternary", 2), ("one-bit per channel", 3), ("piecewise", 3),
    ("wiener", 2), ("mix", 3), ("flip", 2), ("fourier", 3), ("beamspace", 2), ("access", 3),
    ("guaranteed", 2)])
def test_any_number_of_ranks_gives_the_same_model(kind, ranks, one_process, tmp_path):
    said = together(ranks, "train", *settings(kind), "--out", "run", "--json", "s.json", cwd=tmp_path)
    same_files(one_process(kind), tmp_path / "run", "model.safetensors", "history.csv")
    assert said.count("Written: ") == 1
    summary = json.loads((tmp_path / "s.json").read_text())
    assert summary["test_nmse_db"] == json.loads(
        (one_process(kind) / "summary.json").read_text())["test_nmse_db"]


def test_a_training_that_diverges_names_the_layer_of_one_process(tmp_path):
    words = ["train", *SMALL, *sets("train.stage.pretrain.learning_rate=1e30",
                                    "train.stage.pretrain.clip=0"), "--out", "run"]
    one = run([str(PROGRAM), *words], tmp_path)
    three = run(command(3, *words[:-1], "other"), tmp_path)
    said = [line for line in one.stderr.splitlines() if line.startswith("pibinn: error: ")]
    assert one.returncode == 1 and len(said) == 1 and "diverged" in said[0]
    assert said[0] in three.stderr.splitlines()


def test_threads_within_ranks_change_no_byte(one_process, tmp_path):
    together(2, "train", *SMALL, "--out", "run", "--threads", "2", cwd=tmp_path)
    same_files(one_process("one-bit"), tmp_path / "run", "model.safetensors", "history.csv")


def test_a_list_of_hosts(one_process, tmp_path):
    (tmp_path / "hosts").write_text("localhost slots=3\n")
    for ranks in (2, 3):
        hosts = [MPIRUN, "--hostfile", "hosts", "--bind-to", "none", "-n", str(ranks), str(PROGRAM)]
        result = run([*hosts, "train", *settings("one-bit"), "--out", f"run-{ranks}"], tmp_path)
        assert result.returncode == 0, result.stderr
        same_files(one_process("one-bit"), tmp_path / f"run-{ranks}", "model.safetensors",
                   "history.csv")
    # The list is what counts: there is no room for a fourth.
    hosts[hosts.index("-n") + 1] = "4"
    result = run([*hosts, "train", *settings("one-bit"), "--out", "run-4"], tmp_path)
    assert result.returncode != 0 and "slots" in result.stderr
    assert not (tmp_path / "run-4").exists()


def save_arrays(folder, rows, dtype, measured=False, noise=0.0, repeat=1, n=40, m=20):
    """A.npy, x.npy and perhaps y.npy: sparse signals of `repeat` blocks per row."""
    random = np.random.default_rng(2026)
    a = random.standard_normal((m, n)) / np.sqrt(m)
    np.save(folder / "A.npy", a.astype(dtype))
    x = np.zeros((rows, repeat * n), dtype)
    at = random.integers(0, n, (rows, repeat)) + n * np.arange(repeat)
    np.put_along_axis(x, at, (3 * random.standard_normal(at.shape)).astype(dtype), axis=1)
    np.save(folder / "x.npy", x)
    if measured:
        y = x @ a.T
        np.save(folder / "y.npy", (y + noise * random.standard_normal(y.shape)).astype(dtype))


ARRAYS = [*sets("problem.kind=arrays", "problem.operator=A.npy", "problem.x=x.npy"), *SMALL[8:]]
FILES = {
    "float64": (dict(dtype=np.float64), []),
    "float32, drawn noise": (dict(dtype=np.float32), sets("problem.noise_std=0.05")),
    "measured": (dict(dtype=np.float64, measured=True, noise=0.1),
                 sets("problem.y=y.npy", "train.augment=signs")),
    "measured, as given": (dict(dtype=np.float32, measured=True),
                           sets("problem.y=y.npy", "train.augment=negate", "train.validation=0.3")),
    # Every rank has all rows then.
    "shifted": (dict(dtype=np.float64), sets("train.augment=shift")),
}


@pytest.mark.parametrize("kind, counts", [
    ("float64", (1, 2, 3, 4, 7)), ("float32, drawn noise", (3,)), ("measured", (2, 7)),
    ("measured, as given", (4,)), ("shifted", (2,))])
def test_signals_of_files_give_the_same_model(kind, counts, tmp_path):
    made, own = FILES[kind]
    save_arrays(tmp_path, 1400, **made)
    words = ["train", *ARRAYS, *own]
    alone(*words, "--out", "one", cwd=tmp_path)
    for ranks in counts:
        together(ranks, *words, "--out", f"run-{ranks}", cwd=tmp_path)
        same_files(tmp_path / "one", tmp_path / f"run-{ranks}", "model.safetensors", "history.csv")


def test_recordings_give_the_same_model(tmp_path):
    random = np.random.default_rng(7)
    np.save(tmp_path / "x.npy", random.standard_normal((600, 64)).cumsum(axis=1).astype(np.float32))
    words = ["train", *sets("problem.kind=signals", "problem.x=x.npy", "problem.basis=dct",
                            "problem.noise_std=0.05", "model.layers=3", "model.weights=tied",
                            "train.batch=130", "train.stage.tune.epochs=6")]
    alone(*words, "--out", "one", cwd=tmp_path)
    together(3, *words, "--out", "three", cwd=tmp_path)
    same_files(tmp_path / "one", tmp_path / "three", "model.safetensors", "history.csv")


def test_no_rank_but_the_first_holds_all_signals_of_a_file(tmp_path):
    # 112 MB of signals, and 56 MB of measurements.
    save_arrays(tmp_path, 14010, np.float32, repeat=50)
    words = ["train", *sets(
        "problem.kind=arrays", "problem.operator=A.npy", "problem.x=x.npy",
        "problem.structure=repeated", "problem.repeat=50", "problem.test=10", "model.layers=1",
        "model.weights=tied", "train.batch=1400", "train.stage.tune.epochs=1"), "--threads", "1",
        "--out"]
    env = {**ENVIRONMENT, "OPENBLAS_NUM_THREADS": "1"}
    result = run([str(PROGRAM), *words, "one"], tmp_path, env=env, timeout=4 * TIMEOUT)
    assert result.returncode == 0, result.stderr
    # Of private memory, in kilobytes: what it starts with, a fourth of all signals twice, a batch.
    limited = ["bash", "-c", 'ulimit -d 320000; exec "$0" "$@"', str(PROGRAM)]
    result = run([MPIRUN, *OPTIONS, "-n", "1", str(PROGRAM), *words, "four", ":", "-n", "3",
                  *limited, *words, "four"], tmp_path, env=env, timeout=4 * TIMEOUT)
    assert result.returncode == 0, result.stderr
    same_files(tmp_path / "one", tmp_path / "four", "model.safetensors", "history.csv")


def test_no_rank_but_the_first_holds_all_signals(tmp_path):
    # 168 MB of signals and measurements, as much again for those of an epoch.
    words = ["train", *sets(
        "problem.m=20", "problem.n=40", "problem.structure=repeated", "problem.repeat=50",
        "problem.train=14000", "problem.test=10", "model.layers=1", "model.weights=tied",
        "train.batch=1400", "train.stage.tune.epochs=1"), "--threads", "1", "--out"]
    env = {**ENVIRONMENT, "OPENBLAS_NUM_THREADS": "1"}
    result = run([str(PROGRAM), *words, "one"], tmp_path, env=env, timeout=4 * TIMEOUT)
    assert result.returncode == 0, result.stderr
    # Of private memory, in kilobytes: what it starts with, a fourth of all signals twice, a batch.
    limited = ["bash", "-c", 'ulimit -d 320000; exec "$0" "$@"', str(PROGRAM)]
    result = run([MPIRUN, *OPTIONS, "-n", "1", str(PROGRAM), *words, "four", ":", "-n", "3",
                  *limited, *words, "four"], tmp_path, env=env, timeout=4 * TIMEOUT)
    assert result.returncode == 0, result.stderr
    same_files(tmp_path / "one", tmp_path / "four", "model.safetensors", "history.csv")


def test_seeds_are_dealt_to_ranks(tmp_path):
    words = ["train", *SMALL, *sets("train.seeds=4")]
    alone(*words, "--out", "one", cwd=tmp_path)
    together(3, *words, "--out", "three", cwd=tmp_path)
    same_files(tmp_path / "one", tmp_path / "three", "model.safetensors", "history.csv")


def test_a_killed_training_goes_on_with_other_numbers_of_ranks(tmp_path):
    alone("train", *LONG, "--out", "whole", cwd=tmp_path)
    checkpoint = tmp_path / "run" / "checkpoint.safetensors"
    for ranks in (3, 2):
        job = start(ranks, "train", *LONG, "--out", "run", "--resume", cwd=tmp_path)
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        kill_rank(job, ranks - 1, lambda: checkpoint.exists()
                  and checkpoint.stat().st_mtime_ns > before)
    together(4, "train", *LONG, "--out", "run", "--resume", cwd=tmp_path)
    same_files(tmp_path / "whole", tmp_path / "run", "model.safetensors", "history.csv")
