"""Several programs at once: two runs in one folder, and readers that are slow or gone."""

import fcntl
import os
import select
import time

from bench import DEMO, SHORT, contents, sets, temporaries, trained

QUICK = [*SHORT, "--quiet"]


def in_use(ended):
    return ended.refused("is in use by another run") or ended.refused("already holds a")


def two_trainings(bench):
    row = bench.row("two trainings, one folder", "one ends well, the other exits 2; files of one")
    kept = {}
    for seed in (1, 2):
        whole = bench.folder("whole")
        bench.made("train", *QUICK, "--seed", seed, "--out", "run", cwd=whole)
        kept[seed] = trained(whole / "run")
    for _ in range(bench.count(20)):
        folder = bench.folder("two")
        both = [bench.start("train", *QUICK, "--seed", seed, "--out", "run", cwd=folder)
                for seed in (1, 2)]
        ends = [bench.end(process) for process in both]
        won = [seed for seed, ended in zip((1, 2), ends) if ended.code == 0]
        lost = [ended for ended in ends if ended.code != 0]
        summary = contents(folder).get("run/summary.json", b"").decode()
        right = (len(won) == 1 and in_use(lost[0]) and trained(folder / "run") == kept[won[0]]
                 and f'"seed": {won[0]}' in summary)
        row.note(right and not temporaries(folder), f"{ends}")


def second_while_first_runs(bench):
    row = bench.row("a second run while one is under way",
                    "exit 2, says which folder is in use; the first ends in the same bytes")
    slow = [*QUICK, *sets("problem.train=3000", "train.stage.joint.epochs=60")]
    whole = bench.folder("whole")
    bench.made("train", *slow, "--out", "run", cwd=whole)
    compare = ["--weights", "one-bit", "--structure", "dense", "--architecture", "unrolled"]
    for _ in range(bench.count(2)):
        for first, seconds in (
                (["train", *slow], (["train", *slow, "--resume"], ["demo", *DEMO, "--quiet"],
                                    ["train", *QUICK, "--resume"])),
                (["compare", *slow, *compare], (["compare", *slow, *compare, "--resume"],
                                                ["compare", *QUICK, *compare]))):
            folder = bench.folder("second")
            running = bench.start(*first, "--out", "run", cwd=folder)
            while not list(folder.rglob("history.csv")) and running.poll() is None:
                time.sleep(0.002)
            for words in seconds:
                ended = bench.run(*words, "--out", "run", cwd=folder)
                row.note(in_use(ended), f"{words}: {ended}")
            ended = bench.end(running)
            model = next(folder.rglob("model.safetensors"), None)
            row.note(ended.code == 0 and not temporaries(folder) and model is not None
                     and (first[0] != "train"
                          or trained(folder / "run") == trained(whole / "run")), f"{ended}")


def streams(bench):
    folder = bench.folder("streams")
    sizes = sets("problem.test=5000", "problem.train=10")
    bench.made("sample", *sizes, "--out", ".", cwd=folder)
    bench.made("init", *sizes, "--out", "m.safetensors", cwd=folder)
    bench.made("recover", "m.safetensors", "--in", "y_test.npy", "--out", "x.npy", cwd=folder)
    rows = (folder / "y_test.npy").read_bytes()[-5000 * 50 * 4:]
    expected = (folder / "x.npy").read_bytes()[-5000 * 100 * 4:]
    words = ["recover", "m.safetensors", "--in", "-", "--out", "-", "--quiet"]

    row = bench.row("pipes that do not block, a slow reader and writer", "every byte arrives")
    for _ in range(bench.count(3)):
        into, out = os.pipe(), os.pipe()
        os.set_blocking(into[0], False)
        os.set_blocking(out[1], False)
        process = bench.start(*words, cwd=folder, stdin=into[0], stdout=out[1])
        os.close(into[0])
        os.close(out[1])
        got = pump(into[1], rows, out[0])
        ended = bench.end(process)
        row.note(ended.code == 0 and got == expected, f"{ended} {len(got)} bytes")

    row = bench.row("a reader that ends early", "exit 2, one line")
    for _ in range(bench.count(3)):
        with open(folder / "rows", "wb") as file:
            file.write(rows)
        with open(folder / "rows", "rb") as file:
            process = bench.start(*words, cwd=folder, stdin=file)
            process.stdout.read(100)
            process.stdout.close()
            error = process.stderr.read().decode()
            process.wait()
        row.note(process.returncode == 2 and "what reads it ended early" in error
                 and error.count("\n") == 1, f"{process.returncode} {error}")


def pump(into, rows, out):
    """Writes and reads little by little, slower than the program."""
    fcntl.fcntl(into, fcntl.F_SETFL, os.O_NONBLOCK)
    got, at, turn = b"", 0, 0
    while True:
        turn += 1
        if turn < 20:
            time.sleep(0.01)
        if into is not None:
            try:
                at += os.write(into, rows[at:at + 200_003])
            except BlockingIOError:
                pass
            except BrokenPipeError:  # it ended before it took everything
                at = len(rows)
            if at == len(rows):
                os.close(into)
                into = None
        if into is None or turn % 3 == 0:
            if not select.select([out], [], [], 0 if into is not None else 60)[0]:
                continue
            part = os.read(out, 100_000)
            if not part:
                os.close(out)
                return got
            got += part


def everything(bench):
    two_trainings(bench)
    second_while_first_runs(bench)
    streams(bench)


FAULTS = everything
