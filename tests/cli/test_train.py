"""The verb train when all is well: what it writes, and that every seed gives its own bytes."""

import json
import statistics
from html.parser import HTMLParser

import numpy as np
import pytest

from conftest import SHORT, TINY, contents, history, load, sets, succeed, train, tree

# The contract of summary.json; a run may tell more.
SUMMARY_KEYS = {"problem", "model", "train_nmse_db", "test_nmse_db", "train_energy_nmse_db",
                "test_energy_nmse_db", "skipped_zero_signals", "std", "scale", "theta", "bits",
                "seconds", "per_layer_nmse_db", "seeds", "device", "version"}
MODEL_KEYS = {"layers", "weights", "activation", "update", "structure", "delta", "links"}
BIT_KEYS = {"weights", "thresholds", "momentum", "scales", "operator", "paper", "total"}
FILES = ["checkpoint.safetensors", "history.csv", "model.safetensors", "report.html",
         "summary.json"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The folder of a tiny run, and the summary it printed."""
    folder = tmp_path_factory.mktemp("train") / "run"
    return folder, train(folder)


def test_a_run_leaves_five_files_and_nothing_temporary(tiny):
    assert tree(tiny[0]) == FILES


def test_the_summary_has_the_keys_of_its_contract(tiny):
    folder, printed = tiny
    summary = json.loads((folder / "summary.json").read_text())
    assert summary == printed
    assert SUMMARY_KEYS <= set(summary)
    assert set(summary["model"]) == MODEL_KEYS and set(summary["bits"]) == BIT_KEYS
    assert set(summary["std"]) == {"train_nmse_db", "test_nmse_db"}
    assert list(summary["seconds"]) == ["pretrain", "joint", "stage2"]
    assert all(seconds > 0 for seconds in summary["seconds"].values())
    assert set(summary["per_layer_nmse_db"]) == {"train", "test"}
    assert summary["device"] == "cpu"
    assert f"pibinn {summary['version']}\n" in succeed("--version")


def test_the_numbers_of_the_summary_belong_together(tiny):
    summary = tiny[1]
    assert summary["problem"].items() >= {"kind": "synthetic", "m": 12, "n": 20, "train": 200,
                                          "test": 50, "structure": "dense", "density": 0.1,
                                          "noise_std": 0.0}.items()
    assert summary["model"] == {"layers": 3, "weights": "one-bit", "activation": "soft",
                                "update": "accelerated", "structure": "dense", "delta": 1.0,
                                "links": 720}
    assert len(summary["theta"]) == 3
    for of in ("train", "test"):
        layers = summary["per_layer_nmse_db"][of]
        assert len(layers) == 3
        assert layers[-1] == pytest.approx(summary[f"{of}_nmse_db"], abs=1e-9)
    assert summary["std"] == {"train_nmse_db": 0, "test_nmse_db": 0}
    (seed,) = summary["seeds"]
    assert seed["seed"] == 1 and seed["test_nmse_db"] == summary["test_nmse_db"]


def test_the_model_is_that_of_the_summary(tiny):
    folder, summary = tiny
    model = json.loads(succeed("inspect", folder / "model.safetensors", "--json", "-"))
    for key in ("model", "bits", "scale", "theta"):
        assert model[key] == summary[key]
    metadata = model["metadata"]
    assert metadata["pibinn.recipe"] == "default" and metadata["pibinn.seed"] == "1"
    assert metadata["pibinn.data"] == summary["problem"]["data"]
    score = float(metadata["pibinn.test_nmse_db"])
    assert score == pytest.approx(summary["test_nmse_db"], abs=1e-4)


def test_eval_of_the_model_gives_the_scores_of_the_summary(tiny, tmp_path):
    folder, summary = tiny
    succeed("sample", *TINY, "--out", tmp_path)
    for of in ("train", "test"):
        result = json.loads(succeed(
            "eval", folder / "model.safetensors", "--signals", tmp_path / f"x_{of}.npy",
            "--measurements", tmp_path / f"y_{of}.npy", "--json", "-"))
        assert result["nmse_db"] == pytest.approx(summary[f"{of}_nmse_db"], abs=1e-4)
        assert result["energy_nmse_db"] == pytest.approx(summary[f"{of}_energy_nmse_db"], abs=1e-4)
    assert result["skipped_zero_signals"] == summary["skipped_zero_signals"]


def test_history_has_a_line_an_epoch(tiny):
    lines = history(tiny[0])
    assert [int(line["epoch"]) for line in lines] == list(range(1, 10))
    assert [line["stage"] for line in lines] == ["pretrain"] * 3 + ["joint"] * 4 + ["stage2"] * 2
    assert all(float(line["loss"]) > 0 for line in lines)
    assert float(lines[-1]["test_nmse_db"]) == pytest.approx(tiny[1]["test_nmse_db"], abs=1e-3)


class Links(HTMLParser):
    """What a page would fetch."""

    def __init__(self, text):
        super().__init__()
        self.found, self.tags = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.found += [value for name, value in attributes
                       if name in ("src", "href", "xlink:href", "srcset", "data")
                       and not value.startswith(("#", "data:"))]


def test_the_report_needs_nothing_from_outside(tiny):
    page = (tiny[0] / "report.html").read_text(encoding="utf-8")
    links = Links(page)
    assert links.found == [] and not links.tags & {"script", "link", "iframe"}
    assert "@import" not in page and "url(http" not in page
    assert "svg" in links.tags
    assert f"{tiny[1]['test_nmse_db']:.2f}".lstrip("-") in page
    assert "--set problem.m=12" in page and "--out RUN" in page
    assert "batches of " in page and "batches of 0" not in page


def test_people_get_a_table_and_quiet_gets_nothing(tmp_path):
    text = succeed("train", *TINY, *SHORT, "--out", "run", cwd=tmp_path)
    for word in ("test nmse ", "this network", "FISTA, 3 iterations", "OMP", "linear MMSE",
                 "Written: run/{model.safetensors,"):
        assert word in text
    assert succeed("train", *TINY, *SHORT, "--quiet", "--out", "silent", cwd=tmp_path) == ""
    assert (tmp_path / "silent" / "model.safetensors").read_bytes() == \
        (tmp_path / "run" / "model.safetensors").read_bytes()


def test_training_lowers_the_error(tmp_path):
    epochs = sets("train.stage.pretrain.epochs=400")
    summary = train(tmp_path / "run", "--set", "model.weights=float", epochs=epochs)
    losses = [float(line["loss"]) for line in history(tmp_path / "run")]
    assert losses[-1] < losses[0] / 2
    succeed("init", *TINY, "--set", "model.weights=float", "--out", tmp_path / "m.safetensors")
    succeed("sample", *TINY, "--out", tmp_path)
    untrained = json.loads(succeed("eval", tmp_path / "m.safetensors", "--signals",
                                   tmp_path / "x_test.npy", "--json", "-"))
    assert summary["test_nmse_db"] < untrained["nmse_db"] - 3


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """The folder of a run of the seeds 5, 6 and 7, and its summary."""
    folder = tmp_path_factory.mktemp("three") / "run"
    return folder, train(folder, "--set", "train.seeds=3", "--seed", 5)


def test_seeds_are_averaged_with_their_deviation(three):
    summary = three[1]
    assert [seed["seed"] for seed in summary["seeds"]] == [5, 6, 7]
    for key in ("train_nmse_db", "test_nmse_db", "train_energy_nmse_db", "test_energy_nmse_db"):
        values = [seed[key] for seed in summary["seeds"]]
        assert len(set(values)) == 3
        assert summary[key] == pytest.approx(statistics.mean(values), abs=1e-9)
        if key in summary["std"]:
            assert summary["std"][key] == pytest.approx(statistics.stdev(values), abs=1e-9)


def test_every_seed_has_its_folder_and_its_own_bytes(three, tmp_path):
    folder, summary = three
    each = ["checkpoint.safetensors", "history.csv", "model.safetensors"]
    assert tree(folder) == sorted(
        ["model.safetensors", "report.html", "summary.json"] + [f"seed-{s}" for s in (5, 6, 7)]
        + [f"seed-{s}/{name}" for s in (5, 6, 7) for name in each])
    files = contents(folder)
    assert files["model.safetensors"] == files["seed-5/model.safetensors"]
    assert files["seed-5/model.safetensors"] != files["seed-6/model.safetensors"]
    for index, seed in enumerate((5, 6, 7)):
        alone = train(tmp_path / str(seed), "--seed", seed)
        assert alone["test_nmse_db"] == summary["seeds"][index]["test_nmse_db"]
        for name in ("model.safetensors", "history.csv"):
            assert (tmp_path / str(seed) / name).read_bytes() == files[f"seed-{seed}/{name}"]


@pytest.mark.parametrize("seeds", [1, 2])
def test_the_number_of_threads_does_not_change_a_byte(seeds, tmp_path):
    for threads in (1, 2, 3):
        train(tmp_path / str(threads), "--threads", threads, "--set", f"train.seeds={seeds}")
    one, two, more = (contents(tmp_path / str(threads)) for threads in (1, 2, 3))
    kept = [name for name in one if name.endswith(("model.safetensors", "history.csv"))]
    assert len(kept) == (2 if seeds == 1 else 5)
    for name in kept:
        assert one[name] == two[name] == more[name]


@pytest.mark.parametrize("kind", ["float", "one-bit", "one-bit-layer", "one-bit-channel",
                                  "ternary"])
@pytest.mark.parametrize("recipe", ["default", "paper"])
def test_every_kind_of_weights_trains(kind, recipe, tmp_path):
    stages = {"default": ["joint", "stage2"], "paper": ["stage1", "stage2"]}[recipe]
    short = sets("train.stage.pretrain.epochs=2",
                 *(f"train.stage.{name}.epochs=2" for name in stages if kind != "float"))
    summary = train(tmp_path, *sets(f"model.weights={kind}", f"train.recipe={recipe}"),
                    epochs=short)
    model = json.loads(succeed("inspect", tmp_path / "model.safetensors", "--json", "-"))
    assert model["model"]["weights"] == kind and model["bits"] == summary["bits"]
    assert np.isfinite(summary["test_nmse_db"])


@pytest.mark.parametrize("settings, links", [
    (["problem.structure=repeated", "problem.repeat=3"], 3 * 12 * 20),
    (["problem.structure=blocks", "problem.repeat=3"], 3 * 3 * 12 * 20),
    (["problem.structure=mask", "problem.operator=A.npy"], 3 * 3 * 12 * 20),
    (["model.architecture=fcn", "model.update=plain"], 12 * 20 + 2 * 20 * 20),
    (["model.activation=hard"], 3 * 12 * 20),
    (["problem.noise_std=0.1"], 3 * 12 * 20),
    (["problem.support=[1, 4]"], 3 * 12 * 20),
])
def test_every_structure_trains(settings, links, tmp_path):
    block = np.random.default_rng(0).normal(size=(12, 20))
    np.save(tmp_path / "A.npy", np.kron(np.eye(3), block))
    summary = json.loads(succeed("train", *TINY, *SHORT, *sets(*settings), "--out", "run", "--json",
                                 "-", cwd=tmp_path))
    assert summary["model"]["links"] == links
    model = json.loads(succeed("inspect", "run/model.safetensors", "--json", "-", cwd=tmp_path))
    assert model["model"] == summary["model"] and model["theta"] == summary["theta"]


def test_arrays_train_with_and_without_measurements(tmp_path):
    rng = np.random.default_rng(0)
    a, x = rng.normal(size=(12, 20)), rng.normal(size=(100, 20)) * (rng.random((100, 20)) < 0.1)
    np.save(tmp_path / "A.npy", a)
    np.save(tmp_path / "x.npy", x)
    (tmp_path / "c.toml").write_text('[problem]\nkind = "arrays"\npath = "."\n')
    options = [tmp_path / "c.toml", *sets("model.layers=3", "train.batch=40"), *SHORT]

    def summary(name):
        return json.loads(succeed("train", *options, "--out", tmp_path / name, "--json", "-"))

    own = summary("own")
    assert own["problem"].items() >= {"kind": "arrays", "m": 12, "n": 20, "train": 80,
                                      "test": 20}.items()
    np.save(tmp_path / "y.npy", x @ a.T)
    assert summary("exact")["test_nmse_db"] == pytest.approx(own["test_nmse_db"], abs=0.05)
    np.save(tmp_path / "y.npy", x @ a.T + rng.normal(size=(100, 12)))
    assert summary("noisy")["test_nmse_db"] > own["test_nmse_db"] + 0.5
    found = load(tmp_path / "x.npy")
    np.testing.assert_array_equal(found, x)
