"""The verb bench refuses what it does not measure. Speed itself is no matter of a test."""

import pytest

from conftest import refuse


@pytest.mark.parametrize("arguments, words", [
    ([], ["WHAT is required"]),
    (["latncy"], ["unknown bench 'latncy'", "choose train"]),
    (["train", "--seconds", "-1"], ["--seconds -1"]),
    (["train", "--seconds", "nan"], ["--seconds nan"]),
])
def test_a_wrong_bench_is_refused(arguments, words, tmp_path):
    line = refuse("bench", *arguments, cwd=tmp_path)
    for word in words:
        assert word in line
