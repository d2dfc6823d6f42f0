"""Commands of the program, run in this process as a shell would see them."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from appliance.cli.app import main
from appliance.cli.snippet import lines_of


@dataclass
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def ran(*words: object) -> Ran:
        lines_of.cache_clear()
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        said = capsys.readouterr()
        return Ran(int(ended.value.code or 0), said.out, said.err)

    return ran
