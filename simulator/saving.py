"""The world in a file, so that connections and threads outlive the process."""

import hashlib
import os
import pickle
import random
from pathlib import Path

from simulator import world
from simulator.state import Simulator

# Apps are not kept: their addresses and secrets come from the environment of each start.
KEPT = ("tokens", "accounts", "customers", "threads", "files", "templates")


class Saved:
    """A file of one simulator; one of another version, or of other apps, is not read."""

    def __init__(self, sim: Simulator, path: Path) -> None:
        self._sim, self._path = sim, path
        program = Path(world.__file__).read_bytes() + repr(sorted(sim.world.apps)).encode()
        self._version = hashlib.sha256(program).hexdigest().encode() + b"\n"
        self._latest = b""

    def load(self) -> None:
        # The same seed would give the ids of the last run again.
        self._sim.world.random = random.Random(os.urandom(16))
        if not self._path.exists():
            return
        version, _, data = self._path.read_bytes().partition(b"\n")
        if version + b"\n" == self._version:
            vars(self._sim.world).update(pickle.loads(data))

    def save(self) -> None:
        with self._sim.world.lock:
            values = vars(self._sim.world)
            data = pickle.dumps({name: values[name] for name in KEPT})
        if data == self._latest:
            return
        new = self._path.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_bytes(self._version + data)
        new.replace(self._path)
        self._latest = data
