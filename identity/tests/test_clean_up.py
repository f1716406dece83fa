from datetime import timedelta

from django.utils import timezone

from identity.models import Attempt, RefreshToken
from identity.tasks import clean_up


def test_only_expired_rows_are_deleted(ann):
    live = RefreshToken.objects.get(user=ann.user)
    old = RefreshToken.objects.get(user=ann.user)
    old.pk, old.token_hash = None, "x" * 64
    old.expires_at = timezone.now() - timedelta(days=1)
    old.save()
    for age in (timedelta(minutes=1), timedelta(hours=1)):
        Attempt.objects.create(
            kind="sign_in",
            account_hash="a" * 64,
            address="127.0.0.1",
            created_at=timezone.now() - age,
        )
    clean_up()
    assert list(RefreshToken.objects.values_list("pk", flat=True)) == [live.pk]
    assert Attempt.objects.count() == 1
    assert ann.get("/identity/users/me").status_code == 200
