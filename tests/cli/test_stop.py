"""A program that is told to stop while it writes leaves nothing half-written."""

import os
import signal
import subprocess
import time

import pytest

from conftest import PROGRAM, tree


def stop_while_writing(folder, how):
    """Whether the program was caught with a temporary file open, and then stopped by `how`."""
    program = subprocess.Popen(
        [str(PROGRAM), "sample", "--set", "problem.train=200000", "--out", str(folder)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        caught = False
        while not caught and program.poll() is None:
            if any(".tmp-" in name for name in tree(folder)):
                # Frozen, it cannot finish the file between our look and our signal.
                program.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, program.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                caught = any(".tmp-" in name for name in tree(folder))
                program.send_signal(how if caught else signal.SIGCONT)
                program.send_signal(signal.SIGCONT)
            time.sleep(0.001)
        _, errors = program.communicate(timeout=60)
    finally:
        program.kill()
    assert errors == b""
    assert program.returncode == (-how if caught else 0)
    return caught


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_program_leaves_no_temporary_file(how, tmp_path):
    for attempt in range(5):
        folder = tmp_path / str(attempt)
        caught = stop_while_writing(folder, how)
        assert not [name for name in tree(folder) if ".tmp-" in name]
        if caught:
            return
    pytest.fail("the program was never caught while it wrote")
