"""What is in `deploy/`: alerts and panels name metrics and headings that exist."""

import json
import re
import socket
import subprocess
import sys
from shutil import which

import pytest
import yaml
from django.conf import settings
from kubernetes_validate.utils import validate as validate_manifest

from chatplatform import checks
from chatplatform.jobs.heartbeat import Heartbeat
from chatplatform.observing.metrics import Metric
from local.parts import PARTS, Config, parts

pytestmark = pytest.mark.full

KUBERNETES = "1.30"
# In a process of its own: the library brings a runtime that starts threads.
RENDER = """
import json, sys
from helm_python import Chart
with Chart.load(sys.argv[1]) as chart:
    print(json.dumps(chart.render(values=json.loads(sys.argv[2]), name="chat")))
"""
DEPLOY = settings.BASE_DIR / "deploy"
RUNBOOK = "docs/operations.md#"


def rules():
    groups = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panel_queries():
    panels = json.loads((DEPLOY / "grafana" / "chatplatform.json").read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", [])]


def anchors():
    """The anchors of the page's headings, as GitHub makes them."""
    text = (settings.BASE_DIR / "docs" / "operations.md").read_text()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_alert_says_what_to_do():
    assert len(rules()) >= 15
    for rule in rules():
        assert rule["for"]
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"]["summary"]
        runbook = rule["annotations"]["runbook"]
        assert runbook.startswith(RUNBOOK)
        assert runbook.removeprefix(RUNBOOK) in anchors(), rule["alert"]


def test_panels_and_alerts_ask_for_metrics_that_exist():
    queries = panel_queries() + [rule["expr"] for rule in rules()]
    asked = set(re.findall(r"chatplatform_\w+", " ".join(queries)))
    known = {metric.name for metric in Metric.catalogue}
    series = {name + end for name in known for end in ("", "_bucket", "_count", "_sum")}
    assert asked <= series
    shown = {re.sub("_(bucket|count|sum)$", "", name) for name in asked}
    assert known - shown == set(), "no panel shows them"


def test_the_page_of_operations_names_every_metric():
    text = (settings.BASE_DIR / "docs" / "operations.md").read_text()
    assert [metric.name for metric in Metric.catalogue if f"`{metric.name}`" not in text] == []


def test_prometheus_scrapes_every_process_of_a_host(tmp_path):
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    (scrape,) = config["scrape_configs"]
    scraped = {
        entry["labels"]["part"]: entry["targets"][0].rpartition(":")[2]
        for entry in scrape["static_configs"]
    }
    started = parts(Config("127.0.0.1", 8000, tmp_path, metrics_port=9100))
    ports = {part.name: part.environ["METRICS_PORT"] for part in started}
    assert ports.pop("worker-2") == ports["worker"], "one port has the counts of both"
    assert scraped == ports
    page = (settings.BASE_DIR / "docs" / "operations.md").read_text().split()
    listed = ", ".join(f"{name} {port}" for name, port in ports.items())
    assert f"{listed}." in " ".join(page)


def test_prometheus_takes_the_files(tmp_path):
    if which("promtool") is None:
        pytest.skip("promtool is not installed")
    for path in (DEPLOY / "prometheus").iterdir():
        # Debian's is built without this.
        text = path.read_text().replace(
            "kubernetes_sd_configs: [{role: pod}]", "static_configs: []"
        )
        (tmp_path / path.name).write_text(text)
    for name in ("prometheus.yml", "kubernetes.yml"):
        subprocess.run(["promtool", "check", "config", name], cwd=tmp_path, check=True)


def test_prometheus_finds_every_pod():
    config = yaml.safe_load((DEPLOY / "prometheus" / "kubernetes.yml").read_text())
    (scrape,) = config["scrape_configs"]
    wanted = scrape["relabel_configs"][0]["regex"].split(";")
    assert scrape["job_name"] == "chatplatform"
    for (kind, name), manifest in rendered().items():
        if kind == "Deployment":
            labels = manifest["spec"]["template"]["metadata"]["labels"]
            ports = [port["name"] for port in container(manifest)["ports"]]
            assert wanted == [labels["app.kubernetes.io/name"], ports[-1], "Running"], name
            assert f"chat-{labels['app.kubernetes.io/component']}" == name


def rendered(**values):
    """The manifests of the chart, each held to the schema of its kind, by kind and name."""
    chart = str(DEPLOY / "helm" / "chatplatform")
    done = subprocess.run(
        [sys.executable, "-c", RENDER, chart, json.dumps(values)],
        check=True, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    texts = [text for name, text in json.loads(done.stdout).items() if name.endswith(".yaml")]
    made = [part for text in texts for part in yaml.safe_load_all(text) if part]
    for manifest in made:
        validate_manifest(manifest, KUBERNETES, strict=True)
    return {(manifest["kind"], manifest["metadata"]["name"]): manifest for manifest in made}


def container(manifest):
    (only,) = manifest["spec"]["template"]["spec"]["containers"]
    return only


def test_the_chart_runs_every_process(tmp_path):
    made = rendered()
    assert {name for kind, name in made if kind == "Deployment"} == {f"chat-{n}" for n in PARTS}
    assert {kind for kind, _ in made} == {
        "ConfigMap", "CronJob", "Deployment", "Ingress", "Job", "NetworkPolicy",
        "PodDisruptionBudget", "Service",
    }  # fmt: skip
    owners = {"secretRef": {"name": "chatplatform-owner"}}
    for (kind, name), manifest in made.items():
        if kind in {"Deployment", "Job"}:
            own = container(manifest)
            assert own["securityContext"]["readOnlyRootFilesystem"] is True
            assert (owners in own["envFrom"]) == (kind == "Job"), name
            assert "livenessProbe" in own or kind == "Job"


def test_the_chart_leaves_out_what_is_not_wanted():
    made = rendered(metricsPort=0, ingress={"enabled": False}, ownerSecretName="")
    assert not [kind for kind, _ in made if kind == "Ingress"]
    assert "ports" not in container(made["Deployment", "chat-relay"])
    assert len(container(made["Job", "chat-migrate"])["envFrom"]) == 2


def pods(made):
    """The specification of each pod of the chart, by the name of what makes it."""
    found = {}
    for (kind, name), manifest in made.items():
        spec = manifest.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec) if kind == "CronJob" else spec
        if "template" in spec:
            found[name] = spec["template"]["spec"]
    return found


def test_every_pod_has_bounds_and_no_more_than_it_needs():
    made = rendered()
    assert len(pods(made)) == len(PARTS) + 2
    for name, spec in pods(made).items():
        (only,) = spec["containers"]
        assert only["resources"]["limits"]["memory"], name
        assert only["resources"]["requests"], name
        # A Service called `redis` would else set REDIS_PORT=tcp://….
        assert (spec["enableServiceLinks"], spec["automountServiceAccountToken"]) == (False, False)
        assert spec["serviceAccountName"] == "default"


def test_metrics_are_for_prometheus():
    made = rendered(networkPolicy={"metricsFrom": [{"podSelector": {"matchLabels": {"a": "b"}}}]})
    site, metrics = made["NetworkPolicy", "chat"]["spec"]["ingress"]
    assert site == {"ports": [{"port": 8000}]}
    assert metrics["ports"] == [{"port": 9100}]
    assert {"podSelector": {"matchLabels": {"a": "b"}}} in metrics["from"]
    assert not [kind for kind, _ in rendered(networkPolicy={"enabled": False})
                if kind == "NetworkPolicy"]  # fmt: skip


def test_a_site_adds_what_is_its_own():
    digest = "sha256:" + "a" * 64
    variable = {"name": "SSL_CERT_FILE", "value": "/ca/ca.pem"}
    mount = {"name": "ca", "mountPath": "/ca"}
    made = rendered(
        image={"digest": digest}, extraEnv=[variable], extraVolumeMounts=[mount],
        extraVolumes=[{"name": "ca", "configMap": {"name": "ca"}}], serviceAccountName="chat-pods",
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchFields": [
                {"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}}},
        processes={"web": {"maxReplicas": 6}},
    )  # fmt: skip
    for name, spec in pods(made).items():
        (only,) = spec["containers"]
        assert only["image"] == f"chatplatform@{digest}", name
        assert variable in only["env"], name
        assert mount in only["volumeMounts"], name
        assert spec["volumes"][-1]["name"] == "ca", name
        assert spec["serviceAccountName"] == "chat-pods"
        assert "nodeAffinity" in spec["affinity"], name
    scaled = made["HorizontalPodAutoscaler", "chat-web"]["spec"]
    assert (scaled["minReplicas"], scaled["maxReplicas"]) == (2, 6)
    assert "replicas" not in made["Deployment", "chat-web"]["spec"]
    with pytest.raises(subprocess.CalledProcessError):
        rendered(image={"digest": "latest"})


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({}, "2"),
        ({"processes": {"worker": {"replicas": 5}}}, "5"),
        ({"settings": {"REPLY_WORKERS": "7"}}, "7"),
    ],
)
def test_the_chart_tells_how_many_workers_reply(values, wanted):
    made = rendered(**values)
    for name in ("chat-relay", "chat-worker"):
        variables = container(made["Deployment", name])["env"]
        assert {"name": "REPLY_WORKERS", "value": wanted} in variables, name


def test_new_secrets_start_new_pods():
    """The cluster's Secret is looked up, which renders as nothing here."""
    template = (DEPLOY / "helm/chatplatform/templates/processes.yaml").read_text()
    assert 'checksum/secret: {{ (lookup "v1" "Secret"' in template
    for (kind, _), manifest in rendered().items():
        if kind == "Deployment":
            assert "checksum/secret" in manifest["spec"]["template"]["metadata"]["annotations"]


def test_a_number_is_no_setting():
    """It would be written as 1e+06."""
    limit = "PUBLIC_KEY_UPLOAD_BYTES_PER_DAY"
    made = rendered(settings={limit: "5000000"})
    assert made["ConfigMap", "chat-environment"]["data"][limit] == "5000000"
    for values in ({"settings": {limit: 5_000_000}}, {"image": {"tag": 1.1}}):
        with pytest.raises(subprocess.CalledProcessError) as refused:
            rendered(**values)
        assert "got number, want" in refused.value.stderr


def test_without_the_files_of_its_release_a_process_does_not_serve(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    assert [found.id for found in checks.static_files()] == ["chatplatform.E006"]
    (tmp_path / "staticfiles.json").touch()
    assert checks.static_files() == []


def test_no_start_collects_static_files(tmp_path):
    """Each release has its own: of a folder that outlives it, it would take another one's."""
    files = [path for path in DEPLOY.rglob("*") if path.is_file()]
    files += [*settings.BASE_DIR.glob("docker-compose*.yml")]
    files += [*(settings.BASE_DIR / "local").glob("*.py")]
    files += [settings.BASE_DIR / "commands" / "management" / "commands" / "set_up.py"]
    assert len(files) > 30
    assert [str(path) for path in files if "collectstatic" in path.read_text()] == []
    image = (settings.BASE_DIR / "Dockerfile").read_text()
    assert re.search("^RUN .*manage.py collectstatic", image, re.M)


def test_a_rollback_takes_the_settings_back():
    made = rendered(settings={"ALLOWED_HOSTS": "chat.test"})
    own, hook = made["ConfigMap", "chat-environment"], made["ConfigMap", "chat-migrate"]
    assert own["data"] == hook["data"]
    assert own["data"]["ALLOWED_HOSTS"] == "chat.test"
    # Helm takes back what is no hook.
    assert "annotations" not in own["metadata"]
    assert "pre-upgrade" in hook["metadata"]["annotations"]["helm.sh/hook"]
    for (kind, name), manifest in made.items():
        read = re.findall("'configMapRef': {'name': '(.*?)'}", str(manifest))
        assert set(read) <= {"chat-migrate" if kind == "Job" else "chat-environment"}, name
        assert read or kind not in {"CronJob", "Deployment", "Job"}


def told(tmp_path, alert, series):
    """What an alert says when it fires for a series."""
    test = {
        "rule_files": [str(DEPLOY / "prometheus" / "alerts.yml")],
        "evaluation_interval": "15s",
        "tests": [{
            "interval": "15s",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "alert_rule_test": [{"eval_time": "10m", "alertname": alert, "exp_alerts": []}],
        }],
    }  # fmt: skip
    (tmp_path / "test.yml").write_text(yaml.safe_dump(test))
    done = subprocess.run(
        ["promtool", "test", "rules", str(tmp_path / "test.yml")],
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.skipif(which("promtool") is None, reason="promtool is not installed")
def test_alerts_fire_for_what_they_say(tmp_path):
    def said(alert, **series):
        named = {f"chatplatform_{name}": values for name, values in series.items()}
        return told(tmp_path, alert, named)

    def gone(tmp_path, **up):
        series = {f'up{{job="chatplatform", part="{part}"}}': "1x60" for part in PARTS} | up
        return told(tmp_path, "ProcessGone", series)

    assert "SUCCESS" in gone(tmp_path)
    for part in PARTS:
        with_instance = f'up{{job="chatplatform", part="{part}", instance="b:9100"}}'
        assert f"{part} at b:9100 does not answer." in gone(tmp_path, **{with_instance: "0x60"})
        missing = f'up{{job="chatplatform", part="{part}"}}'
        assert f"{part} does not answer." in gone(tmp_path, **{missing: "_x60"})

    away = said("DatabaseIsAway", database_up="0x60")
    assert "The database does not answer." in away
    assert "No relay reports" in said("DatabaseIsAway", broker_up="1x60")
    assert "SUCCESS" in said("DatabaseIsAway", database_up="1x60")
    for queue, seconds, fires in (
        ("reply", 100, False), ("reply", 130, True), ("unknown", 130, True),
        ("train", 3500, False), ("train", 3700, True), ("export", 3500, False),
    ):  # fmt: skip
        name = f'job_oldest_seconds{{queue="{queue}"}}'
        assert ("SUCCESS" not in said("JobsWait", **{name: f"{seconds}x60"})) == fires, queue


@pytest.mark.skipif(which("promtool") is None, reason="promtool is not installed")
def test_alerts_see_hosts_that_fail_slowly(tmp_path):
    def fires(alert, **series):
        named = {f"chatplatform_{name}": values for name, values in series.items()}
        return "SUCCESS" not in told(tmp_path, alert, named)

    on = '{part="web", instance="a:9100", holds="media"}'
    for free, is_full in (("5e8x60", True), ("5e9x60", False)):
        disks = {f"disk_free_bytes{on}": free, f"disk_size_bytes{on}": "1e10x60"}
        assert fires("DiskIsFull", **disks) == is_full, free
    # The clock of a test's Prometheus begins at 0.
    assert fires("ClockIsWrong", **{'clock_seconds{part="web", instance="a"}': "3600+15x60"})
    assert not fires("ClockIsWrong", **{'clock_seconds{part="web", instance="a"}': "0+15x60"})
    assert fires("ClockIsWrong", clock_skew_seconds="-3600x60")
    assert fires("BrokerCannotSave", broker_saves="0x60")
    assert fires("MailFails", mail_failures_total="0+1x60")


def test_a_broken_audit_log_holds_up_no_deploy():
    made = rendered()
    purges = made["CronJob", "chat-purge-audit"]["spec"]["jobTemplate"]
    assert container(purges)["command"] == ["python", "manage.py", "purge_audit"]
    assert {"secretRef": {"name": "chatplatform-owner"}} in container(purges)["envFrom"]
    assert container(made["Job", "chat-migrate"])["command"] == [
        "python", "manage.py", "migrate", "--noinput",
    ]  # fmt: skip
    assert [len(commands) for name, commands in units().items() if "purge" in str(commands)] == [1]
    script = compose("docker-compose.yml")["migrate"]["command"][-1].replace("$$", "$")
    for failing, code in (("purge_audit", 0), ("migrate", 1)):
        fake = f'python() {{ test "$2" != {failing}; }}\n'
        assert subprocess.run(["sh", "-c", fake + script], check=False).returncode == code, failing


def test_containers_may_do_little_and_fill_no_disk():
    services = compose("docker-compose.yml")
    for name, service in services.items():
        assert service["mem_limit"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert int(service["logging"]["options"]["max-file"]) <= 5, name
        # PostgreSQL's image starts as root, and gives its folder to its own user.
        if name != "postgres":
            assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"]), name
    arguments = services["postgres"]["environment"]["POSTGRES_INITDB_ARGS"]
    assert "--encoding=UTF8" in arguments
    image = (settings.BASE_DIR / "Dockerfile").read_text()
    assert image.count("\nFROM ${PYTHON}") == 2
    assert "ARG PIP_INDEX_URL=" in image
    assert "--mount=type=secret,id=ca" in image


def test_a_second_web_is_the_first_at_another_port():
    services = compose("docker-compose.yml")
    second = services["web-2"]
    assert second["profiles"] == ["two"]
    own = {"profiles": ["two"], "ports": ["${PUBLISH_SECOND:-127.0.0.1:8001}:8000"]}
    assert second == services["web"] | own


def test_secrets_may_be_files_alone():
    apart, base = compose("docker-compose.secrets.yml"), compose("docker-compose.yml")
    text = (settings.BASE_DIR / "docker-compose.secrets.yml").read_text()
    files = yaml.load(text, Loader)["secrets"]  # noqa: S506
    assert set(apart) == set(base)
    for name, service in apart.items():
        given = set(service["secrets"])
        assert given <= set(files), name
        named = {path.removeprefix("/run/secrets/") for path in service["environment"].values()}
        assert named - {""} == given or name == "valkey", name
        for variable in service["environment"]:
            # The value beside it is taken back, else two would be given.
            assert variable.removesuffix("_FILE") in service["environment"]
        assert ("database_owner_password" in given) == (name in {"postgres", "migrate"})
    assert "/run/secrets/redis_password" in base["valkey"]["command"][-1]
    assert "/run/secrets/redis_password" in base["valkey"]["healthcheck"]["test"][-1]


class Loader(yaml.SafeLoader):
    """Reads the tags of compose files."""


Loader.add_constructor("!reset", lambda loader, node: None)


def compose(name):
    return yaml.load((settings.BASE_DIR / name).read_text(), Loader)["services"]  # noqa: S506


def test_on_several_hosts_every_service_has_a_profile_and_waits_for_none():
    base, apart = compose("docker-compose.yml"), compose("docker-compose.hosts.yml")
    assert set(base) == set(apart)
    assert {name: service["profiles"] for name, service in apart.items()} == {
        "postgres": ["never"], "valkey": ["never"], "migrate": ["migrate"], "web": ["web"],
        "web-2": ["never"],
        "worker": ["work"], "worker-webhook": ["work"], "worker-bulk": ["work"],
        "beat": ["beat"], "relay": ["relay"],
    }  # fmt: skip
    for name in set(apart) - {"postgres", "valkey"}:
        assert apart[name]["depends_on"] is None, name


def test_what_reads_reports_is_told_of_the_replica():
    services = compose("docker-compose.replica.yml")
    readers = {
        name for name, service in services.items()
        if "DATABASE_REPLICA_URL" in service.get("environment", {})
    }  # fmt: skip
    assert readers == {"web", "web-2", "worker", "worker-bulk", "relay"}
    command = compose("docker-compose.yml")["postgres"]["command"]
    assert services["postgres"]["command"][: len(command)] == command


def units():
    """The command of each systemd unit, as one line."""
    found: dict[str, list[str]] = {}
    for path in sorted((DEPLOY / "systemd").glob("chatplatform-*.service")):
        text = path.read_text().replace("\\\n", " ")
        found[path.stem.removeprefix("chatplatform-")] = re.findall("^ExecStart=(.*)", text, re.M)
    return found


def test_a_host_of_systemd_migrates_only_when_it_is_told_to():
    folder = DEPLOY / "systemd"
    web = (folder / "chatplatform-web.service").read_text()
    assert "--host ${HOST} " in web
    assert "Environment=HOST=127.0.0.1\n" in web
    for path in folder.iterdir():
        assert not re.search("^(Wants|Requires)=.*migrate", path.read_text(), re.M), path.name
        reads_owner = "/etc/chatplatform/owner" in path.read_text()
        owners = {"chatplatform-migrate.service", "chatplatform-purge-audit.service"}
        assert reads_owner == (path.name in owners)


def essence(command):
    """The words of a command without what may differ: how Python is found, nice, paths, addresses,
    and how long a web worker may take to stop."""
    words = " ".join(command).replace("%%h", "%h").split()
    words = words[
        next(n for n, word in enumerate(words) if re.search("web.serve|celery|relay", word)) :
    ]
    for option in ("--host", "--port", "--workers-kill-timeout", "--schedule"):
        if option in words:
            del words[words.index(option) + 1]
    return sorted(words)


def unit(name):
    """The settings of a systemd unit's service; those that stand there twice as one list."""
    text = (DEPLOY / "systemd" / f"chatplatform-{name}.service").read_text()
    found: dict[str, list[str]] = {}
    for key, value in re.findall(r"^(\w+)=(.*)", text.replace("\\\n", " "), re.M):
        found.setdefault(key, []).append(value)
    return found


def told_by(part):
    """The environment of a process that every deployment sets alike."""
    return {
        name: part.environ[name]
        for name in ("TRACES_NAME", "REMAP_SIGTERM")
        if name in part.environ
    }


def test_processes_are_the_same_everywhere(tmp_path):
    started = parts(Config("127.0.0.1", 8000, tmp_path, metrics_port=9100))
    assert started.pop().name == "worker-2"  # elsewhere there are replicas
    made, containers = rendered(), compose("docker-compose.yml")
    apart = compose("docker-compose.hosts.yml")
    # The web container runs what its image does.
    image = (settings.BASE_DIR / "Dockerfile").read_text().rpartition("CMD ")[2].replace("\\\n", "")
    containers["web"]["command"] = json.loads(image)
    for part in started:
        pod, own, service = (
            made["Deployment", f"chat-{part.name}"],
            unit(part.name),
            containers[part.name],
        )
        commands = [container(pod)["command"], own["ExecStart"], service["command"]]
        for command in commands:
            assert essence(command) == essence(part.command), (part.name, command)

        environments = [
            {entry["name"]: entry["value"] for entry in container(pod)["env"]},
            dict(line.split("=", 1) for line in own["Environment"]),
            service["environment"],
        ]
        for environment in environments:
            same = {name: environment[name] for name in told_by(part)}
            assert same == told_by(part), part.name
            assert ("REMAP_SIGTERM" in environment) == ("REMAP_SIGTERM" in part.environ), part.name
        assert environments[1]["METRICS_PORT"] == part.environ["METRICS_PORT"]
        assert apart[part.name]["ports"][0].split(":")[-2:] == [
            part.environ["METRICS_PORT"] + "}",
            "9100",
        ]

        (stop,) = map(int, own["TimeoutStopSec"])
        before_it = 5 if part.name == "web" else 0  # preStop
        assert pod["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == stop + before_it
        assert int(service["stop_grace_period"].rstrip("s")) >= stop >= part.patience
        nice = part.command[2:3] if part.command[0] == "nice" else []
        assert own.get("Nice", []) == nice, part.name


def test_systemd_ends_a_process_whose_loop_hangs(tmp_path, monkeypatch):
    watched = {name for name in PARTS if "WatchdogSec" in unit(name)}
    assert watched == set(PARTS) - {"web"}
    address = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(address))
        systemd.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", str(address))
        Heartbeat("worker").touch_file()
        assert systemd.recv(100) == b"WATCHDOG=1"


def test_units_may_do_little():
    for name in units():
        own = unit(name)
        assert own["CapabilityBoundingSet"] == [""], name
        assert own["SystemCallFilter"] == ["@system-service", "~@privileged"]
        for word in ("PrivateUsers", "ProtectClock", "RestrictNamespaces", "RestrictRealtime"):
            assert own[word] == ["yes"], (name, word)
    if which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    paths = map(str, sorted((DEPLOY / "systemd").glob("*.service")))
    # Its exposure is below 4 of 10.
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=40", *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stdout


def test_systemd_takes_the_units(tmp_path):
    assert set(units()) == {
        "web", "worker", "worker-webhook", "worker-bulk", "beat", "relay", "migrate",
        "purge-audit",
    }  # fmt: skip
    if which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    for path in (DEPLOY / "systemd").iterdir():
        # A program that is there; the path of our own Python may have a space.
        text = path.read_text().replace("/opt/chatplatform/.venv/bin/python", "/bin/sh")
        (tmp_path / path.name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, sorted(tmp_path.iterdir()))],
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
