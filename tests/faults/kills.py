"""Signals at random times: while a network is trained, a certificate attached, signals recovered."""

import shutil
import signal
import time

from bench import LONG, contents, sets, temporaries, trained

SAVES = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ENDS = (signal.SIGQUIT, signal.SIGPIPE, signal.SIGXCPU)
ALL = SAVES + ENDS
TRAIN = ["train", *LONG, "--resume", "--out", "run", "--quiet"]


def chains(bench, row, kills, hows, acceptable):
    """Stops a training again and again, lets it end, and compares what it kept."""
    whole = bench.folder("whole")
    seconds = bench.seconds_of("train", *LONG, "--out", "run", "--quiet", cwd=whole)
    expected = trained(whole / "run")
    left = bench.count(kills)
    while left > 0:
        folder = bench.folder("chain")
        for _ in range(min(left, 12)):
            left -= 1
            how = bench.random.choice(hows)
            ended = bench.stop(bench.random.uniform(0.02, 0.2) * seconds, how, *TRAIN, cwd=folder)
            leftovers = temporaries(folder) if how != signal.SIGKILL else []
            row.note(acceptable(ended, how) and not leftovers,
                     f"{how.name}: {ended} {leftovers}")
        ended = bench.run(*TRAIN, cwd=folder)
        same = ended.code == 0 and trained(folder / "run") == expected
        if not same or temporaries(folder):
            row.failures.append(f"resumed: {ended} same={same} {temporaries(folder)}")


def training(bench):
    chains(bench, bench.row("training, kill -9", "resumes to the same bytes, no leftover"),
           70, [signal.SIGKILL], lambda ended, how: ended.code in (-how, 0))
    # Before the training has begun there is nothing to save: the signal ends the program then.
    chains(bench, bench.row("training, SIGINT SIGTERM SIGHUP",
                            "saves and says how to go on; resumes to the same bytes"),
           40, SAVES, lambda ended, how: ended.code in (-how, 0)
           or (ended.code == 1 and "checkpoint saved in 'run'" in ended.error))
    chains(bench, bench.row("training, SIGQUIT SIGPIPE SIGXCPU",
                            "dies of it, no leftover; resumes to the same bytes"),
           20, ENDS, lambda ended, how: ended.code in (-how, 0))


def stops_of(bench, row, kills, hows, words, folder, seconds, whole):
    for _ in range(bench.count(kills)):
        how = bench.random.choice(hows)
        ended = bench.stop(bench.random.uniform(0, 1.1) * seconds, how, *words, cwd=folder)
        leftovers = temporaries(folder) if how != signal.SIGKILL else []
        row.note(ended.code in (-how, 0) and whole() and not leftovers,
                 f"{how.name}: {ended} {leftovers} {sorted(p.name for p in folder.iterdir())}")
    ended = bench.run(*words, cwd=folder)
    if ended.code != 0 or temporaries(folder):
        row.failures.append(f"afterwards: {ended} {temporaries(folder)}")


def stops(bench, name, whole_end, kills, words, folder, seconds, whole):
    """Of one command: first kill -9, after which the next run cleans up, then all other signals."""
    stops_of(bench, bench.row(f"{name}, kill -9", f"{whole_end}, the next one removes leftovers"),
             kills, [signal.SIGKILL], words, folder, seconds, whole)
    stops_of(bench, bench.row(f"{name}, six other signals", f"dies of it, {whole_end}, no leftover"),
             15, ALL, words, folder, seconds, whole)


def attaching(bench):
    folder = bench.folder("attach")
    bench.made("init", *sets("problem.m=100", "problem.n=200", "model.layers=20",
                             "model.weights=float", "model.update=plain"),
               "--out", "m.safetensors", cwd=folder)
    words = ["certify", "m.safetensors", "--support", "1,5,9", "--samples", "20", "--attach",
             "--quiet"]
    plain = (folder / "m.safetensors").read_bytes()
    seconds = bench.seconds_of(*words, cwd=folder)
    valid = (plain, (folder / "m.safetensors").read_bytes())

    def whole():
        return (folder / "m.safetensors").read_bytes() in valid

    stops(bench, "certify --attach", "the model is whole", 30, words, folder, seconds, whole)


def recovering(bench):
    folder = bench.folder("recover")
    sizes = sets("problem.test=20000", "problem.train=10")
    bench.made("sample", *sizes, "--out", ".", cwd=folder)
    bench.made("init", *sizes, "--out", "m.safetensors", cwd=folder)
    words = ["recover", "m.safetensors", "--in", "y_test.npy", "--out", "x.npy", "--quiet"]
    seconds = bench.seconds_of(*words, cwd=folder)
    expected = (folder / "x.npy").read_bytes()

    def whole():
        path = folder / "x.npy"
        good = not path.exists() or path.read_bytes() == expected
        path.unlink(missing_ok=True)
        return good

    stops(bench, "recover", "no output or all of it", 15, words, folder, seconds, whole)


def removed(bench):
    """The folder of a training goes while it runs."""
    row = bench.row("training, its folder removed", "exit 2, one line, nothing left")
    for _ in range(bench.count(3)):
        folder = bench.folder("removed")
        process = bench.start(*TRAIN, cwd=folder)
        while not (folder / "run" / "history.csv").exists() and process.poll() is None:
            time.sleep(0.005)
        (folder / "run").rename(folder / "elsewhere")
        shutil.rmtree(folder / "elsewhere")
        ended = bench.end(process)
        row.note(ended.refused("run", "No such file") and not contents(folder), f"{ended}")


def everything(bench):
    training(bench)
    attaching(bench)
    recovering(bench)
    removed(bench)


FAULTS = everything
