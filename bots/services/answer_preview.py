"""Answers that are not sent to customers, for golden questions, unanswered questions and replays.

`complete` carries out other tasks with a model, such as judging an answer.
"""

from dataclasses import replace

from django.conf import settings

from bots.engine import Capability, Engine
from bots.engine.text_tasks import Draft, Task
from bots.language import detection
from bots.models import Bot
from bots.services import answers, engines
from bots.services.answers import AnswerRequest, Outcome
from identity.services import credits


class _NullListener:
    """A listener that ignores the text, since nobody watches these answers being written."""

    def delta(self, text: str) -> None:
        pass

    def reset(self) -> None:
        pass


def standalone(bot: Bot, text: str) -> AnswerRequest:
    """A request for an answer from the bot as it is now, without earlier messages."""
    config = bot.client.config
    return AnswerRequest(
        text=text,
        language=detection.detect(text, default=bot.default_language),
        history=(),
        engine=engines.engine_for(bot.client, bot),
        subject=None,
        threshold=config.answer_threshold,
        fallback_to_extractive=config.fallback_to_extractive,
        deadline_seconds=settings.LLM_DEADLINE_SECONDS,
        verify_answer=config.confirm_answers,
    )


def complete(bot: Bot, engine: Engine, task: Task[Draft], *, reference: str) -> Draft:
    """Have the model carry out a task, such as judging an answer, and charge its tokens.

    Raises `EngineError`, or `InsufficientCredits` if the balance is too low.
    """
    max_cost = credits.MODEL_REPLY * engine.price
    with credits.charge(bot.client_id, cost=max_cost, reference=reference) as charge:
        written = engine.complete(task, deadline_seconds=settings.LLM_DEADLINE_SECONDS)
        tokens = written.usage.prompt_tokens + written.usage.completion_tokens
        charge.used = credits.price_of_tokens(tokens, price=engine.price)
    return written.draft


def ask(bot: Bot, request: AnswerRequest, *, reference: str) -> Outcome:
    """The bot's answer to a request, without function calls.

    The extractive engine's answers are free. A model's tokens are charged, once per `reference`;
    raises `InsufficientCredits` if the balance is too low.
    """
    request, engine = replace(request, subject=None), request.engine
    if Capability.WRITE not in engine.capabilities:
        return answers.answer(bot, request, _NullListener())
    max_cost = credits.MODEL_REPLY * engine.price
    with credits.charge(bot.client_id, cost=max_cost, reference=reference) as charge:
        outcome = answers.answer(bot, request, _NullListener())
        usage = outcome.trace.usage
        tokens = usage.prompt_tokens + usage.completion_tokens if usage else 0
        charge.used = credits.price_of_tokens(tokens, price=engine.price) if tokens else 0
    return outcome
