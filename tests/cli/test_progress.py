"""The progress bar: on a terminal, after two seconds, and nowhere else."""

import os
import pty
import signal
import subprocess
import threading
import time

from conftest import PROGRAM


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


def test_a_terminal_sees_a_bar_that_is_gone_at_the_end(tmp_path):
    screen, text = slow_demo_on_a_terminal(tmp_path / "demo")
    assert "demo [###" in screen and "/s  " in screen and " s left  " in screen
    assert screen.endswith("\r\x1b[K")
    assert "linear MMSE" in text and "[##" not in text


def test_quiet_shows_no_bar(tmp_path):
    assert slow_demo_on_a_terminal(tmp_path / "demo", "--quiet") == ("", "")
