"""The demo, and its progress bar: on a terminal, after two seconds, and nowhere else."""

import json
import os
import pty
import signal
import subprocess
import threading
import time

import pytest

from conftest import PROGRAM, succeed, tree


def slow_demo_on_a_terminal(folder, *options):
    """What `demo` shows on a terminal when it takes over two seconds, since it sleeps that long."""
    ours, theirs = pty.openpty()
    shown = []

    def listen():
        try:
            while chunk := os.read(ours, 4096):
                shown.append(chunk)
        except OSError:  # the other side has closed
            pass

    program = subprocess.Popen([str(PROGRAM), "demo", "--out", str(folder), *options],
                               stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    listener = threading.Thread(target=listen)
    listener.start()
    while not folder.exists() and program.poll() is None:
        time.sleep(0.001)
    program.send_signal(signal.SIGSTOP)
    time.sleep(2.2)
    program.send_signal(signal.SIGCONT)
    text, _ = program.communicate(timeout=300)
    listener.join()
    os.close(ours)
    assert program.returncode == 0
    return b"".join(shown).decode(), text.decode()


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder of a demo, what its screen showed and what it printed."""
    folder = tmp_path_factory.mktemp("demo") / "results"
    return folder, *slow_demo_on_a_terminal(folder)


def test_demo_compares_every_method(demo):
    folder, _, text = demo
    rows = {r["method"]: r for r in json.loads((folder / "demo.json").read_text())["rows"]}
    assert len(rows) == 8 and all(method in text for method in rows)
    assert rows["OMP"]["nmse_db"] < -60
    assert rows["FISTA, 100 iterations"]["nmse_db"] < rows["ISTA, 100 iterations"]["nmse_db"]
    assert rows["linear MMSE"]["stored_bits"] == 160000
    model = json.loads(succeed("inspect", folder / "untrained.safetensors", "--json", "-"))
    assert model["bits"]["total"] == rows["one-bit network, 10 layers, untrained"]["stored_bits"]
    assert tree(folder) == ["demo.json", "untrained.safetensors"]


def test_a_terminal_sees_a_bar_that_is_gone_at_the_end(demo):
    _, screen, text = demo
    assert "demo [###" in screen and "/s  " in screen and " s left  " in screen
    assert screen.endswith("\r\x1b[K")
    assert "[##" not in text


def test_quiet_shows_no_bar(tmp_path):
    assert slow_demo_on_a_terminal(tmp_path / "demo", "--quiet") == ("", "")
