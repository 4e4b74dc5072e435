"""The demo, and its progress: a bar that fits the terminal after two seconds, or a line now and then in a file."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time

import pytest

from conftest import PROGRAM, sets, succeed, tree


SHORT = sets("train.stage.tune.epochs=6")
FEW = [*SHORT, *sets("problem.m=50", "problem.n=100", "problem.train=1000", "train.checkpoint_seconds=0")]
OURS = "tied network, 8 layers, trained"


def start_demo(folder, *options, stderr):
    # Checkpoints after every epoch: the first one tells that the clock of its progress runs.
    return subprocess.Popen([str(PROGRAM), "demo", "--out", str(folder), *FEW, *options],
                            stdout=subprocess.PIPE, stderr=stderr)


def pause(program, folder, seconds):
    """Makes the training take that long, since it sleeps."""
    while not (folder / "history.csv").exists() and program.poll() is None:
        time.sleep(0.001)
    program.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    program.send_signal(signal.SIGCONT)


def slow_demo_on_a_terminal(folder, *options, columns=0):
    """What `demo` shows on a terminal when it takes over two seconds. 0 columns: the terminal does not know."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    shown = []

    def listen():
        try:
            while chunk := os.read(ours, 4096):
                shown.append(chunk)
        except OSError:  # the other side has closed
            pass

    program = start_demo(folder, *options, stderr=theirs)
    os.close(theirs)
    listener = threading.Thread(target=listen)
    listener.start()
    pause(program, folder, 2.2)
    text, _ = program.communicate(timeout=300)
    listener.join()
    os.close(ours)
    assert program.returncode == 0
    return b"".join(shown).decode(), text.decode()


def lines_of(screen):
    """The lines that the screen showed one after the other in one place."""
    return [line for line in screen.replace("\x1b[K", "").split("\r") if line]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder of a demo, what its screen showed and what it printed."""
    folder = tmp_path_factory.mktemp("demo") / "results"
    return folder, *slow_demo_on_a_terminal(folder)


def test_demo_compares_every_method(demo):
    folder, _, text = demo
    summary = json.loads((folder / "summary.json").read_text())
    rows = {row["method"]: row for row in summary["comparison"]}
    assert list(rows) == ["ISTA, 8 iterations", "FISTA, 8 iterations", "FISTA, 100 iterations",
                          "OMP", "AMP, soft thresholds", "AMP, Bernoulli-Gaussian", "linear MMSE",
                          "linear MMSE, int8", "oracle: knows the support", OURS]
    assert all(method in text for method in rows)
    assert "without noise OMP is exact" in text and "pibinn train --set model.layers=10" in text
    assert "latency: one signal alone, one thread; batch time: per signal of 1000 signals" in text
    for row in rows.values():
        if row.get("bound"):
            continue
        assert row["latency_microseconds"] > 0 and row["microseconds_per_signal"] > 0
        assert row["batch"] == 1000 and row["threads"] >= 1
    assert re.findall(r"^\* (.*?)  ", text, re.MULTILINE) == [OURS]
    assert rows["FISTA, 100 iterations"]["nmse_db"] < rows["FISTA, 8 iterations"]["nmse_db"]
    assert rows["linear MMSE"]["stored_bits"] == 160000
    assert rows["linear MMSE, int8"]["stored_bits"] == 8 * 5000 + 32 * 100
    assert abs(rows["linear MMSE, int8"]["nmse_db"] - rows["linear MMSE"]["nmse_db"]) < 0.1
    ours = rows[OURS]
    assert ours["nmse_db"] == pytest.approx(summary["test_nmse_db"], abs=1e-6)
    assert ours["nmse_db"] < rows["linear MMSE"]["nmse_db"] - 5
    # The operator takes one bit per entry; what is learned is a small part of the whole.
    assert summary["bits"]["weights"] == 0 and summary["bits"]["operator"] == 50 * 100 + 32
    slower = dict(re.findall(r"^  (\S.*?) +([\d.]+) times the latency, [+-][\d.]+ dB$", text, re.MULTILINE))
    assert "OMP" in slower and "linear MMSE" not in slower
    assert float(slower["OMP"]) == pytest.approx(
        rows["OMP"]["latency_microseconds"] / ours["latency_microseconds"], abs=0.06)
    model = json.loads(succeed("inspect", folder / "model.safetensors", "--json", "-"))
    assert model["bits"]["total"] == ours["stored_bits"]
    assert tree(folder) == ["checkpoint.safetensors", "history.csv", "model.safetensors",
                            "report.html", "summary.json"]
    assert all(name in text for name in ("model.safetensors", "summary.json", "report.html"))


def test_demo_is_the_training_that_its_report_tells(demo, tmp_path):
    folder = demo[0]
    page = (folder / "report.html").read_text(encoding="utf-8")
    command = re.search(r"pibinn (train --set problem.m=250 .*?train.checkpoint_seconds=0)", page).group(1)
    succeed(*command.split(), "--out", tmp_path / "run")
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == \
        (folder / "model.safetensors").read_bytes()


def test_demo_can_run_again_in_its_folder_and_takes_settings(tmp_path):
    tiny = [*sets("problem.m=12", "problem.n=20", "problem.train=200", "problem.test=50",
                  "model.layers=3", "train.batch=50", "train.seeds=2"), *SHORT]
    first = json.loads(succeed("demo", *tiny, "--out", tmp_path / "demo", "--json", "-"))
    again = json.loads(succeed("demo", *tiny, "--out", tmp_path / "demo", "--json", "-"))
    assert first["model"]["layers"] == 3 and len(first["seeds"]) == 2
    assert again["test_nmse_db"] == first["test_nmse_db"]


def test_a_terminal_sees_a_bar_that_is_gone_at_the_end(demo):
    _, screen, text = demo
    assert re.search(r"training \[#*\.*\] +\d+ %  ", screen) and " left  " in screen
    assert screen.endswith("\r\x1b[K")
    assert "[##" not in text


@pytest.mark.parametrize("columns", [40, 80])
def test_the_bar_never_breaks_a_line_of_the_terminal(columns, tmp_path):
    screen, _ = slow_demo_on_a_terminal(tmp_path / "demo", *sets("problem.train=500"), columns=columns)
    lines = lines_of(screen)
    assert lines and all(len(line) < columns and line.startswith("training ") for line in lines), lines
    assert "\n" not in screen


def test_redirected_progress_is_a_plain_line_after_ten_seconds(tmp_path):
    program = start_demo(tmp_path / "demo", stderr=subprocess.PIPE)
    pause(program, tmp_path / "demo", 10.2)
    text, said = program.communicate(timeout=300)
    assert program.returncode == 0 and text
    assert re.match(r"pibinn: training  \d+ %  \S+/s  .* left  \w+  loss \S+  test -?[\d.]+ dB\n", said.decode())
    assert b"\r" not in said and b"\x1b" not in said


def test_quiet_shows_no_bar(tmp_path):
    assert slow_demo_on_a_terminal(tmp_path / "demo", "--quiet") == ("", "")
