"""Disks that are full, and limits on the size of a file."""

import os
import subprocess
from pathlib import Path

from bench import SHORT, contents, sets, temporaries

ROWS = sets("problem.test=2000", "problem.train=10")


def prepare(bench, folder):
    """A model, measurements and a finished recovery that must stay as they are."""
    bench.made("sample", *ROWS, "--out", "data", cwd=folder)
    bench.made("init", *ROWS, "--out", "m.safetensors", cwd=folder)
    data = [folder / "data" / name for name in ("A.npy", "y_test.npy")]
    return folder / "m.safetensors", data[1]


def verbs(model, measured):
    """Every kind of output, in the folder where the fault is."""
    return {
        "train": ["train", *SHORT, *sets("model.layers=60"), "--out", "run", "--quiet"],
        "sample": ["sample", *ROWS, "--out", "more"],
        "recover": ["recover", model, "--in", measured, "--out", "x.npy"],
        "recover to .npz": ["recover", model, "--in", measured, "--out", "x.npz"],
        "recover to .mat": ["recover", model, "--in", measured, "--out", "x.mat"],
        "recover to .csv": ["recover", model, "--in", measured, "--out", "x.csv"],
        "init": ["init", *sets("model.weights=float"), "--out", "big.safetensors"],
        "attach": ["certify", "kept.safetensors", "--support", "1,5", "--samples", "5", "--attach"],
    }


KEPT = ("kept.safetensors", "filler")


def each_verb(bench, row, folder, model, measured, reason, **options):
    for name, words in verbs(model, measured).items():
        before = (folder / KEPT[0]).read_bytes()
        ended = bench.run(*words, cwd=folder, **options)
        kept = (folder / KEPT[0]).read_bytes() == before
        half = [n for n in contents(folder) if n.startswith(("x.", "big."))]
        row.note(ended.refused(reason) and kept and not half and not temporaries(folder),
                 f"{name}: {ended} kept={kept} {half} {temporaries(folder)}")
        for path in sorted(folder.rglob("*"), reverse=True):
            if path.name not in KEPT:
                path.rmdir() if path.is_dir() else path.unlink()


def full_disk(bench, model, measured):
    row = bench.row("full disk (tmpfs)", "exit 2, says so, no half file, old files stay")
    if os.geteuid() != 0:
        row.skipped = "only root can mount"
        return
    for _ in range(bench.count(3)):
        folder = bench.folder("small")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k,mode=777", "tmpfs",
                                  str(folder)], capture_output=True, text=True)
        if mounted.returncode != 0:
            row.skipped = "no leave to mount"
            return
        bench.mounted.append(str(folder))
        (folder / "kept.safetensors").write_bytes(Path(model).read_bytes())
        bench.give(folder / "kept.safetensors")
        # Room for a temporary name, but not for what goes into it.
        free = os.statvfs(folder)
        (folder / "filler").write_bytes(bytes(max(0, free.f_bavail * free.f_frsize - 8192)))
        each_verb(bench, row, folder, model, measured, "No space left")


def limited(bench, model, measured):
    row = bench.row("limit on the size of files", "exit 2, says so, no half file, old files stay")
    for _ in range(bench.count(3)):
        folder = bench.folder("limited")
        (folder / "kept.safetensors").write_bytes(Path(model).read_bytes())
        bench.give(folder / "kept.safetensors")
        each_verb(bench, row, folder, model, measured, "File too large", limit=8192)


def devices(bench, model, measured):
    row = bench.row("/dev/full as output, JSON, standard output", "exit 2, says so")
    folder = bench.folder("devices")
    full = "/dev/full"
    cases = [
        ["recover", model, "--in", measured, "--out", full],
        ["recover", model, "--in", measured, "--out", "x.npy", "--json", full],
        ["inspect", model, "--json", full],
    ]
    for words in cases:
        ended = bench.run(*words, cwd=folder)
        row.note(ended.refused("No space left"), f"{words}: {ended}")
    for words in (["inspect", model], ["config"], ["--help"],
                  ["recover", model, "--in", measured, "--out", "-"]):
        with open(full, "wb") as out:
            ended = bench.run(*words, cwd=folder, stdout=out)
        row.note(ended.refused("No space left"), f"{words} > {full}: {ended}")


def everything(bench):
    model, measured = prepare(bench, bench.folder("disks"))
    full_disk(bench, model, measured)
    limited(bench, model, measured)
    devices(bench, model, measured)


FAULTS = everything
