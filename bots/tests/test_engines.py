"""The engine that a client's bots use, and the only module that chooses it."""

import pytest
from django.conf import settings as project

from bots.engine import Capability
from bots.engine.extractive import ExtractiveEngine
from bots.engine.openai_compatible import OpenAICompatible
from bots.engine.text_tasks import translate
from bots.engine.types import EngineUnavailable
from bots.services import engines

pytestmark = pytest.mark.django_db

# The settings declare them, one module reads them, and one names them for others' names.
READERS = {
    "bots/services/engines.py", "chatplatform/environment.py", "chatplatform/settings_outgoing.py",
}  # fmt: skip
# Tests and drills start model servers and set these variables.
OTHER_PLACES = {"tests", "testing", "drills", "bench", ".venv"}


@pytest.mark.full
def test_only_one_module_reads_the_settings_of_a_model():
    mentions = {
        str(path.relative_to(project.BASE_DIR))
        for path in project.BASE_DIR.rglob("*.py")
        if not OTHER_PLACES & set(path.relative_to(project.BASE_DIR).parts)
        and any(name in path.read_text() for name in ("LLM_BASE_URL", "LLM_API_KEY", "LLM_MODEL"))
    }
    assert mentions == READERS


def test_without_a_model_the_extractive_engine_works(client_a, settings):
    settings.LLM_BASE_URL = ""
    engine = engines.engine_for(client_a)
    assert isinstance(engine, ExtractiveEngine)
    assert not engine.capabilities
    with pytest.raises(EngineUnavailable):
        engine.complete(translate("Hello", to="vi"), deadline_seconds=1)


def test_a_model_works_if_one_is_set(client_a, bot, settings):
    settings.LLM_BASE_URL, settings.LLM_MODEL = "http://127.0.0.1:9/v1", "usual"
    engine = engines.engine_for(client_a, bot)
    assert isinstance(engine, OpenAICompatible)
    assert engine.capabilities == {Capability.WRITE, Capability.CALL_FUNCTIONS}
    assert engine._model == "usual"
