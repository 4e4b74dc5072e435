"""Problems of pictures: training on a folder of them, recovering whole ones, refusing bad ones."""

import base64
import json

import numpy as np
import pytest

from conftest import SHORT, contents, load, refuse, run, sets, succeed
from pictures import disc_picture, png_bytes, psnr, read_png, ssim

IMAGES = sets("problem.kind=images", "problem.path=photos", "model.layers=3", "train.batch=20")
# A grey JPEG of 32 x 24 pixels, 128 + 60 sin(0.4 i) + 40 cos(0.3 j).
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywt"
    "QFdBRkxOUlNSMj5aYVpQYEpRUk//wAALCAAYACABAREA/8QAFQABAQAAAAAAAAAAAAAAAAAABQb/xAAeEAABAwUBAQAA"
    "AAAAAAAAAAAEAAMTAQUxMkICEv/aAAgBAQAAPwCguTIUddUGyyFPzlUgzIUHOENdGQvuuqCuThsddkGy4bP1lUgzhsHW"
    "ENdHDfuuyv7l5CjrqhGfIU/OVRjeQoOcIa6eQvuuq//Z")


def write_photos(folder, count=10):
    folder.mkdir()
    for k in range(count):
        (folder / f"{k}.png").write_bytes(png_bytes(disc_picture(k)))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run on ten pictures, its summary, and the folder it stands in."""
    work = tmp_path_factory.mktemp("images")
    write_photos(work / "photos")
    summary = json.loads(succeed("train", *IMAGES, *sets("model.weights=float",
                                                         "train.stage.pretrain.epochs=150"),
                                 "--out", "run", "--json", "-", cwd=work))
    return work, summary


def test_the_summary_and_the_report_tell_the_protocol(trained):
    work, summary = trained
    problem = summary["problem"]
    assert (problem["kind"], problem["m"], problem["n"]) == ("images", 32, 64)
    assert (problem["train"], problem["test"]) == (200, 50)
    assert (problem["basis"], problem["normalize"], problem["patch"]) == ("dct2", "zscore", 8)
    assert problem["noise_std"] == 0.05 and problem["scored"] == "normalised signals"
    for words in ("200 random 8 x 8 patches of 8 pictures", "no picture on both sides",
                  "noise of deviation 0.05 on the signals", "dense gaussian operator on the coefficients"):
        assert words in problem["protocol"]
    assert summary["test_energy_nmse_db"] < -2
    page = (work / "run" / "report.html").read_text(encoding="utf-8")
    assert "200 random 8 x 8 patches" in page and "data:image/png;base64,iVBOR" in page


def test_one_bit_weights_start_from_the_scale_of_untrained_ones(trained):
    work, _ = trained
    options = [*IMAGES, *sets("problem.ratio=0.25")]
    stage = sets('train.stage=[{name="joint", epochs=1, trains=["weights"]}]')
    summary = json.loads(succeed("train", *options, *stage, "--out", "quarter", "--json", "-",
                                 cwd=work))
    succeed("sample", *options, "--out", "quarter-set", cwd=work)
    a = load(work / "quarter-set" / "A.npy")
    assert summary["scale"] == pytest.approx(np.abs(a).mean() / np.linalg.norm(a, 2) ** 2, rel=0.01)


def test_the_psnr_of_the_summary_is_that_of_the_pixels(trained):
    work, summary = trained
    succeed("sample", *IMAGES, "--out", "set", cwd=work)
    np.save(work / "y.npy", load(work / "set" / "y_test.npy"))
    succeed("recover", "run/model.safetensors", "--in", "y.npy", "--out", "pixels.npy", cwd=work)
    k, i = np.mgrid[0:8, 0:8]
    dct = np.sqrt(2 / 8) * np.cos(np.pi * (2 * i + 1) * k / 16)
    dct[0] /= np.sqrt(2)
    c = load(work / "set" / "c_test.npy").reshape(-1, 8, 8)
    problem = summary["problem"]
    pixels = np.einsum("ki,nkl,lj->nij", dct, c, dct) * problem["deviation"] + problem["mean"]
    assert -1e-4 < pixels.min() and pixels.max() < 1 + 1e-4
    assert np.allclose(np.round(255 * pixels), 255 * pixels, atol=1e-2), "pixels of 8-bit pictures"
    np.testing.assert_allclose(load(work / "set" / "x_test.npy").reshape(-1, 8, 8), pixels,
                               atol=1e-5)
    found = load(work / "pixels.npy").reshape(-1, 8, 8)
    assert abs(psnr(pixels, found) - summary["test_psnr_db"]) < 0.01


def test_a_whole_picture_is_recovered_and_scored(trained):
    work, _ = trained
    (work / "new.png").write_bytes(png_bytes(disc_picture(99)))
    result = json.loads(succeed("recover-image", "run/model.safetensors", "new.png", "--out",
                                "new-recovered.png", "--json", "-", cwd=work))
    original = disc_picture(99) / 255
    recovered = read_png(work / "new-recovered.png") / 255
    beside = read_png(work / "new-recovered-side-by-side.png") / 255
    assert beside.shape == (48, 3 * 64 + 2 * 8)
    np.testing.assert_array_equal(beside[:, :64], original)
    np.testing.assert_array_equal(beside[:, -64:], recovered)
    adjoint = beside[:, 72:136]
    # The files are rounded to 8 bits and cut at 0 and 1.
    assert abs(result["psnr_db"] - psnr(original, recovered)) < 0.1
    assert abs(result["ssim"] - ssim(original, recovered)) < 0.01
    assert psnr(original, recovered) > psnr(original, adjoint) + 2
    assert result["noise_std"] == 0.05 and result["patches"] == 11 * 15


def test_a_picture_is_recovered_by_learned_variances(tmp_path):
    """Better than by the one-bit network that is trained as long, from as many measurements."""
    write_photos(tmp_path / "photos")
    (tmp_path / "new.png").write_bytes(png_bytes(disc_picture(99)))
    found = {}
    for name, settings in (("wiener", ["model.weights=tied", "model.activation=wiener",
                                       "train.stage.tune.epochs=15"]),
                           ("soft", [f"train.stage.{s}.epochs=15" for s in ("pretrain", "joint", "stage2")])):
        summary = json.loads(succeed("train", *IMAGES, *sets("problem.operator=rademacher",
                                                             "problem.ratio=0.25", *settings),
                                     "--out", name, "--json", "-", cwd=tmp_path))
        result = json.loads(succeed("recover-image", f"{name}/model.safetensors", "new.png", "--out",
                                    f"{name}.png", "--json", "-", cwd=tmp_path))
        original, recovered = disc_picture(99) / 255, read_png(tmp_path / f"{name}.png") / 255
        assert abs(result["psnr_db"] - psnr(original, recovered)) < 0.1
        assert abs(result["ssim"] - ssim(original, recovered)) < 0.01
        found[name] = result["psnr_db"], summary["bits"]["total"]
    adjoint = read_png(tmp_path / "wiener-side-by-side.png")[:, 72:136] / 255
    assert found["wiener"][0] > psnr(original, adjoint) + 3
    assert found["wiener"][0] > found["soft"][0] + 0.5 and found["wiener"][1] < found["soft"][1]


def test_stride_noise_and_seed_of_a_recovery_take_effect(trained):
    work, _ = trained

    def recover(*options):
        return json.loads(succeed("recover-image", "run/model.safetensors", "photos/0.png", "--out",
                                  "o.png", "--json", "-", *options, cwd=work))

    usual = recover()
    assert recover("--noise", "0")["psnr_db"] > usual["psnr_db"]
    assert recover("--stride", "8")["patches"] == 6 * 8
    assert recover("--seed", "2")["psnr_db"] != usual["psnr_db"]
    assert recover("--seed", "1") == usual


def test_the_model_tells_its_domain_and_takes_pixels(trained):
    work, _ = trained
    text = succeed("inspect", "run/model.safetensors", cwd=work)
    assert "basis dct2, patches of 8 x 8 pixels, normalisation zscore" in text
    patches = np.stack([disc_picture(5)[r:r + 8, 8:16].ravel() / 255 for r in range(0, 40, 8)])
    np.save(work / "patches.npy", patches)
    result = json.loads(succeed("eval", "run/model.safetensors", "--signals", "patches.npy",
                                "--json", "-", cwd=work))
    assert result["signals"] == 5 and result["nmse_db"] < 0


def test_the_same_folder_and_seed_give_the_same_bytes(tmp_path):
    write_photos(tmp_path / "photos", 4)
    for name, threads in (("a", 1), ("b", 3)):
        succeed("train", *IMAGES, *SHORT, "--threads", threads, "--out", name, cwd=tmp_path)
    assert contents(tmp_path / "a")["model.safetensors"] == \
        contents(tmp_path / "b")["model.safetensors"]


@pytest.mark.parametrize("options, facts", [
    (["problem.structure=blocks"], {"structure": "blocks", "m": 32}),
    (["problem.ratio=0.25"], {"m": 16}),
    (["problem.m=20"], {"m": 20}),
    (["problem.patch=4"], {"n": 16, "m": 8, "patch": 4}),
    (["problem.patches=7"], {"train": 21, "test": 7}),
    (["problem.normalize=none"], {"normalize": "none", "scored": "signals", "deviation": 1}),
    (["problem.normalize=global"], {"normalize": "global", "deviation": 1}),
    (["problem.normalize=patch"], {"normalize": "patch", "mean": 0}),
    (["problem.noise_std=0"], {"noise_std": 0}),
    (["problem.noise_at=measurements"], {"noise_std": 0.05, "noise_at": "measurements"}),
    (["problem.noise_at=normalised"], {"noise_std": 0.05, "noise_at": "normalised"}),
    (["problem.basis=identity"], {"basis": "identity"}),
    (["problem.split=patch"], {"train": 75}),
])
def test_every_key_takes_effect(options, facts, tmp_path):
    write_photos(tmp_path / "photos", 4)
    summary = json.loads(succeed("train", *IMAGES, *SHORT, *sets(*options), "--out", "run",
                                 "--json", "-", cwd=tmp_path))
    assert {key: summary["problem"][key] for key in facts} == facts
    if "problem.split=patch" in options:
        assert "same pictures on both sides" in summary["problem"]["protocol"]


def test_a_sign_operator_keeps_its_bits_and_one_of_ones_own_senses_pixels(tmp_path):
    write_photos(tmp_path / "photos", 4)
    summary = json.loads(succeed("train", *IMAGES, *SHORT, *sets("problem.operator=rademacher"),
                                 "--out", "signs", "--json", "-", cwd=tmp_path))
    assert summary["bits"]["operator"] == 32 * 64 + 32
    phi = np.random.default_rng(0).standard_normal((24, 64)).astype("f4")
    np.save(tmp_path / "phi.npy", phi)
    own = sets("problem.operator=phi.npy", "problem.noise_std=0", "problem.normalize=none")
    succeed("sample", *IMAGES, *own, "--out", "set", cwd=tmp_path)
    k, i = np.mgrid[0:8, 0:8]
    dct = np.sqrt(2 / 8) * np.cos(np.pi * (2 * i + 1) * k / 16)
    dct[0] /= np.sqrt(2)
    np.testing.assert_allclose(load(tmp_path / "set" / "A.npy"), phi @ np.kron(dct, dct).T,
                               atol=1e-5)
    succeed("sample", *IMAGES, *own, *sets("problem.senses=coefficients"), "--out", "raw",
            cwd=tmp_path)
    np.testing.assert_array_equal(load(tmp_path / "raw" / "A.npy"), phi)


def test_bad_files_of_a_folder_are_named_and_skipped(tmp_path):
    write_photos(tmp_path / "photos", 4)
    good = png_bytes(disc_picture(7))
    (tmp_path / "photos" / "notes.txt").write_text("hello")
    (tmp_path / "photos" / "cut.png").write_bytes(good[:len(good) // 2])
    (tmp_path / "photos" / "small.png").write_bytes(png_bytes(disc_picture(1)[:6]))
    (tmp_path / "photos" / "cut.jpg").write_bytes(JPEG[:-40])
    (tmp_path / "photos" / "gone.png").symlink_to("nowhere.png")
    names = ["notes.txt: not a JPEG", "cut.png: ", "small.png: 64 x 6 pixels", "cut.jpg: ",
             "gone.png: a link to nothing"]
    told = run("train", *IMAGES, *SHORT, "--out", "run", cwd=tmp_path)
    assert told.returncode == 0 and told.stderr.count("\n") == 1
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8").replace("&#39;", "'")
    problem = json.loads((tmp_path / "run" / "summary.json").read_text())["problem"]
    assert problem["train"] + problem["test"] == 100
    assert told.stderr.startswith("pibinn: note: skipped 5 file(s) of 'photos': ")
    for text in (told.stderr, page, problem["notes"][0]):
        assert "skipped 5 file(s) of 'photos'" in text and all(name in text for name in names)
    for k in range(9):
        (tmp_path / "photos" / f"more{k}.txt").write_text("hello")
    told = run("train", *IMAGES, *SHORT, "--out", "again", cwd=tmp_path)
    notes = json.loads((tmp_path / "again" / "summary.json").read_text())["problem"]["notes"][0]
    assert ", and 9 more\n" in told.stderr and all(f"more{k}.txt" in notes for k in range(9))
    assert run("sample", *IMAGES, "--out", "s", "--quiet", cwd=tmp_path).stderr == ""


def test_pictures_of_every_kind_are_used(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    grey = disc_picture(3)
    (folder / "grey.png").write_bytes(png_bytes(grey))
    (folder / "deep.png").write_bytes(png_bytes(grey.astype(np.uint16) * 257))
    (folder / "alpha.png").write_bytes(png_bytes(np.stack([grey, 255 - grey], 2)))
    (folder / "color.png").write_bytes(png_bytes(np.stack([grey] * 3, 2)))
    (folder / "photo.jpg").write_bytes(JPEG)
    text = succeed("sample", *IMAGES, "--out", "set", cwd=tmp_path)
    assert "skipped" not in text and "100 training and 25 test" in text
    init = ["init", *IMAGES, "--out", "m.safetensors"]
    succeed(*init, cwd=tmp_path)
    for name in ("grey", "deep", "alpha", "color"):
        succeed("recover-image", "m.safetensors", f"photos/{name}.png", "--out", f"{name}.png",
                cwd=tmp_path)
    one = read_png(tmp_path / "grey-side-by-side.png")[:, :64]
    np.testing.assert_array_equal(one, grey)
    for name in ("deep", "alpha", "color"):
        np.testing.assert_array_equal(read_png(tmp_path / f"{name}-side-by-side.png")[:, :64], one)
    succeed("recover-image", "m.safetensors", "photos/photo.jpg", "--out", "j.png", cwd=tmp_path)
    i, j = np.mgrid[0:24, 0:32]
    wave = 128 + 60 * np.sin(0.4 * i) + 40 * np.cos(0.3 * j)
    assert np.abs(read_png(tmp_path / "j-side-by-side.png")[:, :32] - wave).mean() < 4


@pytest.mark.parametrize("options, words", [
    (["problem.path=nowhere"], ["'nowhere' is not a folder"]),
    (["problem.path=empty"], ["0 usable pictures, but 2 are needed", "problem.path"]),
    (["problem.path=tiny"], ["0 usable pictures", "smaller than a patch", "; give larger"]),
    (["problem.split=row"], ["not split by row", "image or patch"]),
    (["train.augment=signs"], ["basis is dct2", "noise"]),
    (["problem.noise_std=0", "train.augment=noise"], ["neither noise nor artefacts"]),
    (["problem.train=6000"], ["3 usable pictures, but 240 are needed"]),
    (["problem.patch=49"], ["0 usable pictures", "smaller than a patch"]),
    (["problem.patch=0"], ["problem.patch"]),
    (["problem.normalize=zscor"], ["did you mean 'zscore'?"]),
    (["problem.split=images"], ["did you mean 'image'?"]),
    (["problem.basis=dct3"], ["did you mean 'dct'?"]),
    (["problem.basis=bad.npy"], ["not orthonormal"]),
    (["problem.density=0.1"], ["kind images has no such key", "synthetic"]),
    (["problem.snr_db=3", "problem.noise_std=0.1"], ["problem.snr_db", "noise_std is given too"]),
    (["problem.snr_db=3", "problem.noise_at=signals"], ["problem.noise_at", "remove one"]),
    (["problem.x=bad.npy"], ["kind images has no such key"]),
    (["problem.operator=narrow.npy"], ["4 x 60", "64 entries"]),
    (["problem.structure=blocks", "problem.repeat=3"], ["3 equal blocks"]),
    (["problem.structure=blocks", "problem.senses=signals"], ["mixes"]),
    (["problem.structure=mask"], ["mask"]),
])
def test_bad_problems_are_refused(options, words, tmp_path):
    write_photos(tmp_path / "photos", 3)
    (tmp_path / "empty").mkdir()
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "a.png").write_bytes(png_bytes(disc_picture(1)[:4]))
    np.save(tmp_path / "bad.npy", np.ones((64, 64)))
    np.save(tmp_path / "narrow.npy", np.ones((4, 60)))
    line = refuse("train", *IMAGES, *SHORT, *sets(*options), "--out", "run", cwd=tmp_path)
    for word in words:
        assert word in line


def test_a_kind_without_its_folder_is_refused(tmp_path):
    line = refuse("init", *sets("problem.kind=images"), "--out", "m.safetensors", cwd=tmp_path)
    assert "problem.path" in line


@pytest.mark.parametrize("arguments, words", [
    (["m.safetensors", "missing.jpg"], ["missing.jpg"]),
    (["m.safetensors", "notes.txt"], ["not a JPEG or PNG"]),
    (["m.safetensors", "cut.jpg"], ["cut.jpg", "damaged"]),
    (["m.safetensors", "small.png"], ["64 x 6", "SSIM", "11 x 11"]),
    (["plain.safetensors", "good.png"], ["does not recover patches", "images"]),
    (["m.safetensors", "good.png", "--stride", "9"], ["--stride 9", "1 to 8"]),
    (["m.safetensors", "good.png", "--stride", "0"], ["--stride 0"]),
    (["m.safetensors", "good.png", "--noise", "-1"], ["--noise -1"]),
])
def test_recover_image_refuses_what_does_not_fit(arguments, words, tmp_path):
    write_photos(tmp_path / "photos", 3)
    succeed("init", *IMAGES, "--out", "m.safetensors", cwd=tmp_path)
    succeed("init", "--out", "plain.safetensors", cwd=tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "cut.jpg").write_bytes(JPEG[:-40])
    (tmp_path / "good.png").write_bytes(png_bytes(disc_picture(1)))
    (tmp_path / "small.png").write_bytes(png_bytes(disc_picture(1)[:6]))
    line = refuse("recover-image", *arguments, "--out", "o.png", cwd=tmp_path)
    for word in words:
        assert word in line
    refuse("recover-image", "m.safetensors", "good.png", "--out", "o.jpg", cwd=tmp_path)


def test_help_shows_an_example(tmp_path):
    assert "pibinn recover-image model.safetensors photo.jpg" in succeed("recover-image", "--help")


def test_one_picture_is_enough_where_patches_are_split(tmp_path):
    write_photos(tmp_path / "photos", 1)
    text = succeed("sample", *IMAGES, *sets("problem.split=patch"), "--out", "set", cwd=tmp_path)
    assert "20 training and 5 test" in text


def test_a_mean_that_was_not_measured_is_told(tmp_path):
    write_photos(tmp_path / "photos", 3)
    own = sets("problem.normalize=patch")
    succeed("init", *IMAGES, *own, "--out", "m.safetensors", cwd=tmp_path)
    succeed("sample", *IMAGES, *own, "--out", "set", cwd=tmp_path)
    told = run("recover", "m.safetensors", "--in", "set/y_test.npy", "--out", "x.npy", cwd=tmp_path)
    assert told.returncode == 0 and "without its own mean" in told.stderr
    assert np.abs(load(tmp_path / "x.npy").mean(1)).max() > 0
    assert np.abs(load(tmp_path / "set" / "x_test.npy").mean(1)).max() < 1e-5
