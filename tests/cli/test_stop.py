"""A program that is told to stop while it writes leaves nothing half-written."""

import resource
import signal
import subprocess
import time

import pytest

from conftest import PROGRAM, tree


def temporaries(folder):
    return [name for name in tree(folder) if ".tmp-" in name]


def stop_while_writing(folder, how, before=signal.SIG_DFL):
    """Sends `how` as soon as a temporary file is there; whether that ended the program."""
    program = subprocess.Popen(
        [str(PROGRAM), "sample", "--set", "problem.train=60000", "--out", str(folder)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(how, before))
    try:
        while not temporaries(folder) and program.poll() is None:
            time.sleep(0.0005)
        program.send_signal(how)
        _, errors = program.communicate(timeout=60)
    finally:
        program.kill()
    assert errors == b""
    assert program.returncode in (-how, 0)
    return program.returncode == -how


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT,
                                 signal.SIGPIPE, signal.SIGXCPU])
def test_a_stopped_program_leaves_no_temporary_file(how, tmp_path):
    stopped = 0
    # A small file may be whole again before the signal arrives: several attempts catch one open.
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        stopped += stop_while_writing(folder, how)
        assert temporaries(folder) == []
    assert stopped > 0, "the program was never caught while it wrote"


def test_a_limit_on_the_size_of_files_is_an_error_of_the_write(tmp_path):
    result = subprocess.run(
        [str(PROGRAM), "sample", "--out", "data"], cwd=tmp_path, capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000)))
    assert result.returncode == 2
    assert "cannot write 'data/y_train.npy': File too large" in result.stderr
    assert tree(tmp_path) == ["data", "data/A.npy"]


def test_a_signal_that_is_ignored_stays_ignored(tmp_path):
    assert not stop_while_writing(tmp_path / "data", signal.SIGHUP, signal.SIG_IGN)
    assert len(tree(tmp_path / "data")) == 5
