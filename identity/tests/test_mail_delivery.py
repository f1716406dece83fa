"""Mails over a real socket: retried if the server is busy, not if it refuses for good."""

import socketserver
import threading

import pytest
from django.utils import timezone

from chatplatform.models import Job
from chatplatform.testing import run_jobs
from identity.services import mails

pytestmark = pytest.mark.django_db(transaction=True)


class MailServer(socketserver.ThreadingTCPServer):
    """A minimal SMTP server; `answers` are its first replies to RCPT, then it accepts."""

    allow_reuse_address = daemon_threads = True

    def __init__(self):
        self.answers: list[str] = []
        self.accepted: list[str] = []
        super().__init__(("127.0.0.1", 0), Session)


class Session(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self):
        self.say("220 ready")
        for raw in self.rfile:
            word = raw.decode().strip().upper()
            if word == "DATA":
                self.say("354 go on")
                self.server.accepted.append(self.text())
                self.say("250 taken")
            elif word.startswith("RCPT") and self.server.answers:
                self.say(self.server.answers.pop(0))
            elif word == "QUIT":
                return self.say("221 bye")
            else:
                self.say("250 fine")
        return None

    def text(self):
        lines = iter(self.rfile.readline, b".\r\n")
        return b"".join(lines).decode()

    def say(self, line):
        self.wfile.write(f"{line}\r\n".encode())


@pytest.fixture
def server(settings):
    with MailServer() as mail_server:
        threading.Thread(target=mail_server.serve_forever, args=(0.005,), daemon=True).start()
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = mail_server.server_address[:2]
        yield mail_server
        mail_server.shutdown()


def send(ben):
    mails.send_to(ben.user, "password_changed")
    assert run_jobs() == 1
    return Job.objects.get()


def test_delivered(ben, server):
    assert send(ben).state == "done"
    (text,) = server.accepted
    assert f"To: {ben.user.email}\r\n" in text
    assert "From: Chatbot Platform <no-reply@127.0.0.1>\r\n" in text
    assert "Hi Ben," in text


def test_a_busy_server_is_tried_again(ben, server, counts):
    server.answers = ["451 later"]
    job = send(ben)
    assert counts().total("mail_failures_total") == 1
    assert (job.state, server.accepted) == ("queued", [])
    assert "SMTPRecipientsRefused" in job.last_error
    Job.objects.update(due_at=timezone.now())
    assert run_jobs() == 1
    assert len(server.accepted) == 1


def test_a_recipient_refused_for_good_is_not_tried_again(ben, server):
    server.answers = ["550 no such mailbox"]
    job = send(ben)
    assert (job.state, job.attempts, server.accepted) == ("dead", 1, [])


def test_without_a_server_the_job_waits_and_one_line_says_so(ben, settings, server, caplog):
    server.server_close()
    job = send(ben)
    assert (job.state, job.attempts) == ("queued", 1)
    (line,) = caplog.records
    assert line.getMessage().endswith(job.last_error)
    assert line.exc_info is None


def test_without_email_url_the_job_is_dead_and_nothing_is_printed(ben, settings, capsys):
    settings.EMAIL_BACKEND = settings.NO_EMAIL
    job = send(ben)
    assert (job.state, job.last_error) == ("dead", "No mail is sent: EMAIL_URL is not set.")
    assert "Hello" not in capsys.readouterr().out
