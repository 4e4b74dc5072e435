"""Permissions that are missing or get lost, names that are too long, links that lead nowhere."""

import shutil
import time

from bench import DEMO, LONG, SHORT, sets, temporaries, trained, unchanged

TOO_LONG = "n" * 300


def prepare(bench, folder):
    bench.made("sample", *SHORT, "--out", "data", cwd=folder)
    bench.made("train", *SHORT, "--out", "done", "--quiet", cwd=folder)
    shutil.copy(folder / "data" / "A.npy", folder / "A.npy")
    (folder / "grid.toml").write_text("[grid]\nmodel.layers = [1, 2]\n")
    bench.give(folder / "grid.toml")
    for name in ("locked", "pictures"):
        (folder / name).mkdir()
        bench.give(folder / name)
    (folder / "loop").symlink_to("loop")
    (folder / "locked" / "m.safetensors").write_bytes(
        (folder / "done" / "model.safetensors").read_bytes())


def verbs(bad):
    """Every verb with one bad path in it, for each place where it takes one."""
    model, y = "done/model.safetensors", "data/y_test.npy"
    arrays = sets("problem.kind=arrays", "problem.operator=data/A.npy")
    return [
        ["train", *SHORT, "--out", bad],
        ["train", *SHORT, "--resume", "--out", bad],
        ["train", bad, *SHORT, "--out", "r"],
        ["train", *SHORT, "--out", "r", "--json", bad],
        ["train", *sets("problem.kind=images", f"problem.path={bad}"), "--out", "r"],
        ["train", *sets("problem.kind=signals", f"problem.path={bad}"), "--out", "r"],
        ["train", *sets("problem.kind=arrays", f"problem.path={bad}"), "--out", "r"],
        ["train", *arrays, *sets(f"problem.x={bad}"), "--out", "r"],
        ["compare", *SHORT, "--weights", "one-bit", "--out", bad],
        ["compare", *SHORT, "--weights", "one-bit", "--resume", "--out", bad],
        ["demo", *DEMO, "--out", bad],
        ["study", bad, "--out", "s"],
        ["study", "grid.toml", "--out", bad],
        ["study", "grid.toml", *sets(f"problem.operator={bad}/A.npy"), "--out", "s"],
        ["field", "--quick", "--out", bad],
        ["reproduce", "delta-soft", "--quick", "--out", bad],
        ["reproduce", "real", "--quick", "--images", bad, "--out", "p"],
        ["sample", *SHORT, "--out", bad],
        ["init", *SHORT, "--out", f"{bad}/m.safetensors"],
        ["inspect", bad],
        ["inspect", model, "--json", bad],
        ["inspect", model, "--picture", f"{bad}/links.svg"],
        ["inspect", "A.npy", "--structure", "--out", bad],
        ["eval", bad, "--signals", "data/x_test.npy"],
        ["eval", model, "--signals", f"{bad}/x.npy"],
        ["recover", bad, "--in", y, "--out", "x.npy"],
        ["recover", model, "--in", f"{bad}/y.npy", "--out", "x.npy"],
        ["recover", model, "--in", f"{bad}/y.npz", "--out", "x.npy"],
        ["recover", model, "--in", f"{bad}/y.csv", "--out", "x.npy"],
        ["recover", model, "--in", f"{bad}/y.mat", "--out", "x.npy"],
        ["recover", model, "--in", y, "--out", f"{bad}/x.npy"],
        ["recover-image", model, f"{bad}/photo.png", "--out", "p.png"],
        ["recover-image", model, "photo.png", "--out", f"{bad}/p.png"],
        ["solve", "--solver", "omp", "--operator", f"{bad}/A.npy", "--in", y, "--out", "x.npy"],
        ["solve", "--solver", "omp", "--operator", "data/A.npy", "--in", y, "--out",
         f"{bad}/x.npy"],
        ["certify", bad, "--support", "1,5"],
        ["certify", model, "--support", "1,5", "--samples", "5", "--out", bad],
        ["certify", bad, "--calibrate", "data/x_test.npy"],
        ["certify", model, "--calibrate", f"{bad}/x.npy"],
        ["certify", model, "--calibrate", "data/x_test.npy", "--coverage", "0.5",
         "--confidence", "0.5", "--out", bad],
        ["export", bad, "--to", "npz", "--out", "m.npz"],
        ["export", model, "--to", "npz", "--out", f"{bad}/m.npz"],
    ]


def bad_paths(bench):
    folder = bench.folder("paths")
    prepare(bench, folder)
    before = unchanged(folder)
    # A folder that may not be entered, and one beneath it; a name too long; a loop of links.
    for bad, mode in (("locked/in", 0o000), (TOO_LONG, 0o755), ("loop", 0o755),
                      ("loop/in", 0o755)):
        row = bench.row({"locked/in": "every verb, no permission",
                         TOO_LONG: "every verb, a name of 300 characters",
                         "loop": "every verb, a loop of links",
                         "loop/in": "every verb, a folder that is a loop"}[bad],
                        "exit 2, one line with the reason, nothing changes")
        for words in verbs(bad):
            (folder / "locked").chmod(mode)
            ended = bench.run(*words, cwd=folder)
            (folder / "locked").chmod(0o755)
            row.note(ended.refused() and unchanged(folder) == before, f"{words}: {ended}")


def read_only(bench):
    row = bench.row("outputs in a folder that is read-only", "exit 2, says so, nothing changes")
    folder = bench.folder("readonly")
    prepare(bench, folder)
    model = "locked/m.safetensors"
    for words in (["train", *SHORT, "--out", "locked"],
                  ["recover", "done/model.safetensors", "--in", "data/y_test.npy", "--out",
                   "locked/x.npy"],
                  ["certify", model, "--support", "1,5", "--samples", "5", "--attach"],
                  ["inspect", model, "--json", "locked/r.json"]):
        (folder / "locked").chmod(0o555)
        before = unchanged(folder)
        ended = bench.run(*words, cwd=folder)
        row.note(ended.refused("Permission denied") and unchanged(folder) == before,
                 f"{words}: {ended}")
        (folder / "locked").chmod(0o755)
    (folder / model).chmod(0o444)
    ended = bench.run("certify", model, "--support", "1,5", "--samples", "5", "--attach",
                      cwd=folder)
    row.note(ended.refused("Permission denied"), f"a model that is write-protected: {ended}")


def lost_in_training(bench):
    row = bench.row("training, its folder becomes read-only",
                    "exit 2, says so; resumes to the same bytes")
    whole = bench.folder("whole")
    bench.made("train", *LONG, "--out", "run", "--quiet", cwd=whole)
    for _ in range(bench.count(3)):
        folder = bench.folder("lost")
        words = ["train", *LONG, "--resume", "--out", "run", "--quiet"]
        process = bench.start(*words, cwd=folder)
        while not (folder / "run" / "history.csv").exists() and process.poll() is None:
            time.sleep(0.005)
        (folder / "run").chmod(0o555)
        ended = bench.end(process)
        (folder / "run").chmod(0o755)
        again = bench.run(*words, cwd=folder)
        row.note(ended.refused("Permission denied") and again.code == 0
                 and trained(folder / "run") == trained(whole / "run")
                 and not temporaries(folder), f"{ended} {again}")


def everything(bench):
    bad_paths(bench)
    read_only(bench)
    lost_in_training(bench)


FAULTS = everything
