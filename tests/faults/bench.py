"""What every fault is tried with: the program, a folder to work in, and a record of how it went."""

import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

NOBODY = 65534
TIMEOUT = 120


def sets(*settings):
    return [word for setting in settings for word in ("--set", setting)]


TINY = sets("problem.m=12", "problem.n=20", "problem.density=0.1", "problem.train=200",
            "problem.test=50", "model.layers=3", "train.batch=50")
SHORT = [*TINY, *sets("train.stage.pretrain.epochs=2", "train.stage.joint.epochs=2",
                      "train.stage.stage2.epochs=1", "train.checkpoint_seconds=0")]
DEMO = [*TINY, *sets("train.stage.tune.epochs=2")]
# About a second of training, with a checkpoint after every epoch.
LONG = [*TINY, *sets("problem.train=3000", "model.layers=4", "train.stage.pretrain.epochs=30",
                     "train.stage.joint.epochs=40", "train.stage.stage2.epochs=20",
                     "train.checkpoint_seconds=0")]


def contents(folder):
    """Every file beneath a folder, with its bytes."""
    return {p.relative_to(folder).as_posix(): p.read_bytes()
            for p in Path(folder).rglob("*") if p.is_file()}


def temporaries(folder):
    return [p for p in Path(folder).rglob("*") if ".tmp-" in p.name]


def trained(folder):
    """What must come out the same, however often a training was stopped."""
    return {name: content for name, content in contents(folder).items()
            if name in ("model.safetensors", "history.csv")}


@dataclass
class Ended:
    code: int
    out: str
    error: str

    def refused(self, *words):
        """One line that says what is wrong, exit code 2, and no word of a bug."""
        return (self.code == 2 and self.error.startswith("pibinn: error: ")
                and self.error.count("\n") == 1 and "report this" not in self.error
                and all(word in self.error for word in words))


@dataclass
class Row:
    """One line of the table."""
    fault: str
    expected: str
    tries: int = 0
    failures: list = field(default_factory=list)
    skipped: str = ""

    def note(self, holds, what):
        self.tries += 1
        if not holds:
            self.failures.append(what)


class Bench:
    """The program as it is tried. Root ignores permissions, so the program runs as another user."""

    def __init__(self, program, share, seed):
        self.share = share
        self.random = random.Random(seed)
        self.rows = []
        self.root = Path(tempfile.mkdtemp(prefix="pibinn-faults-"))
        self.program = self.root / "pibinn"
        shutil.copy(program, self.program)
        self.program.chmod(0o755)
        self.root.chmod(0o755)
        self.as_nobody = os.geteuid() == 0
        self.mounted = []

    def close(self):
        for folder in self.mounted:
            subprocess.run(["umount", folder], check=False, capture_output=True)
        for path in self.root.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        shutil.rmtree(self.root, ignore_errors=True)

    def count(self, full):
        return max(1, round(full * self.share))

    def row(self, fault, expected):
        self.rows.append(Row(fault, expected))
        print(f"{fault} ...", file=sys.stderr, flush=True)
        return self.rows[-1]

    def folder(self, name):
        """A new folder that the program may write to."""
        path = Path(tempfile.mkdtemp(prefix=name + "-", dir=self.root))
        self.give(path)
        return path

    def give(self, path):
        if self.as_nobody:
            os.chown(path, NOBODY, NOBODY)
        if path.is_dir():
            path.chmod(0o755)

    def start(self, *arguments, cwd, limit=None, **options):
        def prepare():
            # Whoever runs this in the background may ignore Ctrl-C, and programs inherit that.
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            if self.as_nobody:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
        options.setdefault("stdout", subprocess.PIPE)
        return subprocess.Popen([str(self.program), *map(str, arguments)], cwd=cwd,
                                stderr=subprocess.PIPE, preexec_fn=prepare, **options)

    @staticmethod
    def end(process):
        out, error = process.communicate(timeout=TIMEOUT)
        return Ended(process.returncode, (out or b"").decode(errors="replace"),
                     error.decode(errors="replace"))

    def run(self, *arguments, **options):
        return self.end(self.start(*arguments, **options))

    def made(self, *arguments, cwd):
        """Runs what must succeed before a fault can be tried."""
        ended = self.run(*arguments, cwd=cwd)
        if ended.code != 0:
            raise SystemExit(f"faults: 'pibinn {' '.join(map(str, arguments))}' ended with "
                             f"{ended.code}: {ended.error}")
        return ended

    def stop(self, seconds, how, *arguments, cwd, **options):
        """Sends a signal after a while; how the program ended."""
        process = self.start(*arguments, cwd=cwd, **options)
        time.sleep(seconds)
        process.send_signal(how)
        return self.end(process)

    def seconds_of(self, *arguments, cwd):
        begin = time.monotonic()
        self.made(*arguments, cwd=cwd)
        return time.monotonic() - begin


def unchanged(folder):
    """Names, bytes and permissions beneath a folder, as far as they can be seen."""
    return {p.relative_to(folder).as_posix():
            (stat.S_IMODE(p.lstat().st_mode), p.read_bytes() if p.is_file() else b"")
            for p in sorted(Path(folder).rglob("*"))}
