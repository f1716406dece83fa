"""The list of unanswered questions is filtered by date, and no control outshines "Write answer"."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from unfold.enums import ActionVariant

from chats.models import QuestionGroup
from chats.tests.test_unanswered_questions import ask_in_vain, grouped  # noqa: F401

LIST = reverse("admin:chats_questiongroup_changelist")


@pytest.mark.usefixtures("grouped")
@pytest.mark.django_db(transaction=True)
def test_the_questions_of_this_week(site):
    now = timezone.now()
    first, second, *others = QuestionGroup.objects.order_by("pk")
    for row in others:
        row.delete()
    for row, days in ((first, 2), (second, 20)):
        QuestionGroup.objects.filter(pk=row.pk).update(latest_at=now - timedelta(days=days))
    begin = (now - timedelta(days=7)).isoformat()
    everything = site.get(LIST).context["cl"]
    assert everything.result_count == 2
    assert any("Past 7 days" in [choice["display"] for choice in spec.choices(everything)]
               for spec in everything.filter_specs)  # fmt: skip
    assert site.get(LIST, {"latest_at__gte": begin}).context["cl"].result_count == 1


def test_sorting_is_a_quiet_control(site, bot):
    page = site.get(LIST)
    variants = {str(item["variant"]) for item in page.context["actions_list"]}
    assert str(ActionVariant.PRIMARY) not in variants
    assert 'class="button primary"' not in page.content.decode()
