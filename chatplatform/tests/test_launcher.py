"""The launcher: what it refuses, and which processes it starts again."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from chatplatform.jobs import Queue
from chatplatform.web.health import PROCESSES
from local import launcher
from local.data_dir import Lock
from local.os_processes import ServerError, free_port, wait_until
from local.parts import FIRST_DELAY_SECS, PARTS, Config, Delay, Output, Part, Process, parts
from local.postgres import Postgres

ROOT = Path(__file__).resolve().parents[2]


def start(data_dir: Path, port: int | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "local.launcher"],
        cwd=ROOT,
        env=os.environ | {"DATA_DIR": str(data_dir), "PORT": str(port)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def eventually(condition: Callable[[], bool]) -> bool:
    return wait_until(condition, secs=30)


def test_a_taken_port_is_reported_in_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        completed = start(tmp_path, port)
    assert completed.returncode == 1
    assert completed.stderr.startswith(
        f"Cannot listen on 127.0.0.1:{port} (Address already in use)"
    )
    assert completed.stderr.count("\n") == 1
    assert not (tmp_path / "postgres").exists()


def test_a_second_run_on_a_folder_is_refused(tmp_path: Path) -> None:
    lock = Lock(tmp_path)
    completed = start(tmp_path, free_port())
    assert completed.returncode == 1
    assert f"is in use by another run (process {os.getpid()})" in completed.stderr
    assert completed.stderr.count("\n") == 1
    lock.release()
    Lock(tmp_path).release()


def test_every_queue_has_a_worker_and_check_health_knows_every_part(tmp_path: Path) -> None:
    started = parts(Config("127.0.0.1", 8000, tmp_path))
    commands = [part.command for part in started if "-Q" in part.command]
    taken = [name for command in commands for name in command[command.index("-Q") + 1].split(",")]
    spare = [Queue.REPLY, Queue.CHANNEL, Queue.INSIGHT]
    assert sorted(taken) == sorted([*Queue, *spare])
    assert {part.name for part in started} == {"worker-2", *PARTS}
    assert set(PARTS) == {"web", *PROCESSES}


def test_the_providers_are_simulated_only_in_development(tmp_path: Path) -> None:
    environ = {"DATA_DIR": str(tmp_path), "PORT": "8001", "DEBUG": "true"}
    config = launcher.read_config(environ)
    (simulator,) = [part for part in parts(config) if part.name == "simulator"]
    assert simulator.command[-4:] == [
        "--port", str(config.simulator_port), "--callback-base", "http://127.0.0.1:8001",
    ]  # fmt: skip
    real = launcher.read_config({name: environ[name] for name in ("DATA_DIR", "PORT")})
    assert "simulator" not in {part.name for part in parts(real)}
    assert "LOCALAPP_APP_SECRET" not in launcher.Supervisor(real).environ


def test_the_simulator_fills_what_is_unset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOCIALNET_APP_ID", "my-app")
    monkeypatch.setenv("EGRESS_ALLOW", "10.0.0.5:80")
    config = launcher.read_config({"DATA_DIR": str(tmp_path), "DEBUG": "true"})
    environ = launcher.Supervisor(config).environ
    assert environ["SOCIALNET_APP_ID"] == "my-app"
    assert environ["SOCIALNET_API_URL"].startswith(config.simulator_origin)
    assert environ["EGRESS_ALLOW"] == f"10.0.0.5:80,127.0.0.1:{config.simulator_port}"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "shop.example", "0"])
def test_a_demo_is_opened_to_the_network_only_if_that_is_meant(tmp_path: Path, host: str) -> None:
    environ = {"DATA_DIR": str(tmp_path), "DEBUG": "true", "HOST": host}
    with pytest.raises(ServerError, match="DEBUG_ON_NETWORK=yes"):
        launcher.read_config(environ)
    assert launcher.read_config(environ | {"DEBUG_ON_NETWORK": "yes"}).host == host
    assert launcher.read_config(environ | {"DEBUG": "false"}).host == host
    for own in ("127.0.0.1", "::1", "localhost", ""):
        launcher.read_config(environ | {"HOST": own})


@pytest.mark.parametrize("port", ["none", "0", "70000"])
def test_a_bad_port_is_reported_in_one_sentence(tmp_path: Path, port: str) -> None:
    with pytest.raises(ServerError, match="PORT must be a number"):
        launcher.read_config({"PORT": port, "DATA_DIR": str(tmp_path)})


def test_a_signal_ends_the_start_of_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    supervisor = launcher.Supervisor(launcher.read_config({"DATA_DIR": str(tmp_path)}))
    for name in ("DATABASE_URL", "REDIS_URL"):
        supervisor.environ.pop(name, None)

    def start_slowly(_: Postgres) -> None:
        signal.raise_signal(signal.SIGTERM)
        pytest.fail("The start went on.")

    monkeypatch.setattr(Postgres, "start", start_slowly)
    before = signal.signal(signal.SIGTERM, supervisor.on_signal)
    try:
        supervisor.run()
        signal.raise_signal(signal.SIGTERM)  # another one raises nothing
    finally:
        signal.signal(signal.SIGTERM, before)
    assert supervisor.processes == []


@pytest.mark.full
def test_processes_that_were_never_ready_get_two_seconds_to_stop(tmp_path: Path) -> None:
    supervisor = launcher.Supervisor(launcher.read_config({"DATA_DIR": str(tmp_path)}))
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up'); time.sleep(60)"
    part = Part("web", [sys.executable, "-u", "-c", code], 30)
    process = Process(part, os.environ, supervisor.output)
    supervisor.processes.append(process)
    process.start()
    time.sleep(1)
    started_at = time.monotonic()
    supervisor.stop()
    assert time.monotonic() - started_at < 10
    assert wait_until(process.has_ended, secs=5)


def test_a_dead_part_is_restarted_and_its_children_are_killed(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    # The leader records its own id and a child's, as a server with workers has them.
    script = f"sleep 60 & echo $$ $! >> '{pids}'; wait"
    part = Part("web", ["sh", "-c", script], patience=1)
    process = Process(part, os.environ, Output())
    process.start()
    assert eventually(lambda: pids.exists() and pids.read_text().count("\n") == 1)
    leader, child = map(int, pids.read_text().split())
    os.kill(leader, signal.SIGKILL)
    assert eventually(process.has_ended)
    process.watch()
    assert eventually(lambda: not is_alive(child))
    time.sleep(FIRST_DELAY_SECS)
    process.watch()
    assert eventually(lambda: pids.read_text().count("\n") == 2)
    process.signal(signal.SIGKILL)
    assert eventually(process.has_ended)


def is_alive(pid: int) -> bool:
    """A zombie counts as dead."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_processes_left_by_a_killed_run_are_killed(tmp_path: Path) -> None:
    mark = {launcher.RUN_MARK: str(tmp_path)}
    with (
        subprocess.Popen(["sleep", "60"], env=os.environ | mark) as ours,
        subprocess.Popen(["sleep", "60"]) as other,
    ):
        launcher.kill_leftovers(tmp_path)
        assert ours.wait(30) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()


def test_celerys_words_at_its_end_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    words = "worker: Warm shutdown (MainProcess)\\n\\nour own line"
    process, printing = Output().popen(["printf", words], os.environ, "worker")
    printing.join(5)
    assert process.wait(5) == 0
    assert capsys.readouterr().out == "worker         | our own line\n"


def test_delay_grows_to_its_limit() -> None:
    delay = Delay()
    delays = [delay.died() for _ in range(8)]
    assert delays == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0]


def test_a_full_volume_stops_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process says is read even where it cannot be written: else the process waits."""
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        speaks = "for _ in range(5000): print('a line that no full volume holds, ' * 3)"
        process, printing = Output().popen([sys.executable, "-c", speaks], os.environ, "speaker")
        assert process.wait(60) == 0
        printing.join()
        monkeypatch.undo()
        with suppress(OSError):  # the volume is full to the end
            full.close()
