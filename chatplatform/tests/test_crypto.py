import json
import uuid
from typing import ClassVar

import pytest
from django.core import serializers
from django.core.exceptions import FieldError
from django.db import connection, models, transaction

from chatplatform import crypto

OLD = ("k1", b"1" * 32)
NEW = ("k2", b"2" * 32)
CONTEXT = "channel.token:7:9"


class Vault(models.Model):  # noqa: DJ008
    """A row whose id is known before the insert: its texts are bound to the id."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    client_id = models.IntegerField(default=1)
    token = crypto.EncryptedTextField(default="")
    objects: ClassVar[models.Manager["Vault"]] = models.Manager()

    class Meta:
        app_label = "crypto_tests"


class Numbered(models.Model):  # noqa: DJ008
    """A row whose id the database assigns."""

    id = models.BigAutoField(primary_key=True)
    token = crypto.EncryptedTextField()
    objects: ClassVar[models.Manager["Numbered"]] = models.Manager()

    class Meta:
        app_label = "crypto_tests"


@pytest.fixture(autouse=True)
def _keys(settings):
    settings.FIELD_KEYS = [OLD]


@pytest.fixture
def _tables(db):
    with connection.schema_editor() as editor:
        editor.create_model(Vault)
        editor.create_model(Numbered)
    yield
    with connection.schema_editor() as editor:
        editor.delete_model(Vault)
        editor.delete_model(Numbered)


@pytest.mark.parametrize("text", ["", "tökén 🙂", "v1:k1:AAAA", "x" * 100_000])
def test_a_text_is_encrypted_and_decrypted(text):
    stored = crypto.encrypt(text, context=CONTEXT)
    assert stored.startswith("v1:k1:")
    assert not text or text not in stored
    assert crypto.decrypt(stored, context=CONTEXT) == text


def test_equal_texts_have_different_ciphertexts():
    assert crypto.encrypt("a", context=CONTEXT) != crypto.encrypt("a", context=CONTEXT)


@pytest.mark.parametrize("elsewhere", ["channel.token:7:10", "channel.token:8:9", "bot.token:7:9"])
def test_a_value_is_bound_to_its_context(elsewhere):
    stored = crypto.encrypt("secret", context=CONTEXT)
    with pytest.raises(crypto.DecryptionFailed) as caught:
        crypto.decrypt(stored, context=elsewhere)
    assert stored not in str(caught.value)


def test_another_key_under_the_same_id_raises(settings):
    stored = crypto.encrypt("secret", context=CONTEXT)
    settings.FIELD_KEYS = [("k1", b"9" * 32)]
    with pytest.raises(crypto.DecryptionFailed):
        crypto.decrypt(stored, context=CONTEXT)


def test_a_removed_key_raises(settings):
    stored = crypto.encrypt("secret", context=CONTEXT)
    settings.FIELD_KEYS = [NEW]
    with pytest.raises(crypto.KeyMissing):
        crypto.decrypt(stored, context=CONTEXT)


@pytest.mark.parametrize(
    "value", ["", "plain", "v1:k1", "v1:k1:", "v1:k1:!!!", "v1:k1:AAAA", "v2:k1:AAAA", "v1:k1:é"]
)
def test_a_malformed_value_raises(value):
    with pytest.raises(crypto.DecryptionFailed):
        crypto.decrypt(value, context=CONTEXT)


def test_each_changed_character_raises():
    head, payload = crypto.encrypt("secret", context=CONTEXT).rsplit(":", 1)
    for index in range(len(payload.rstrip("=")) - 1):
        character = "A" if payload[index] != "A" else "B"
        changed = f"{head}:{payload[:index]}{character}{payload[index + 1 :]}"
        with pytest.raises(crypto.DecryptionFailed):
            crypto.decrypt(changed, context=CONTEXT)


def test_the_newest_key_encrypts_and_an_old_one_still_decrypts(settings):
    stored = crypto.encrypt("secret", context=CONTEXT)
    settings.FIELD_KEYS = [NEW, OLD]
    assert crypto.decrypt(stored, context=CONTEXT) == "secret"
    assert not crypto.is_current(stored, context=CONTEXT)
    assert crypto.is_current(crypto.encrypt("secret", context=CONTEXT), context=CONTEXT)


def test_a_key_opens_its_values_whatever_it_is_named(settings):
    stored = crypto.encrypt("secret", context=CONTEXT)
    # Another key has the name now, as `make env` once named each one; and the old one has none.
    settings.FIELD_KEYS = [("k1", NEW[1]), ("", OLD[1])]
    assert crypto.decrypt(stored, context=CONTEXT) == "secret"
    assert not crypto.is_current(stored, context=CONTEXT)
    settings.FIELD_KEYS = [("", OLD[1])]
    assert crypto.is_current(stored, context=CONTEXT)


def test_a_key_without_a_name_is_known_by_its_fingerprint(settings):
    settings.FIELD_KEYS = [("", OLD[1])]
    (fingerprint,) = crypto.fingerprints()
    stored = crypto.encrypt("secret", context=CONTEXT)
    assert stored.split(":")[1] == fingerprint
    settings.FIELD_KEYS = [NEW, OLD]
    assert crypto.fingerprints()[1] == fingerprint
    assert crypto.decrypt(stored, context=CONTEXT) == "secret"


@pytest.mark.parametrize(
    "keys", [[], [("k1", b"short")], [("a:b", b"1" * 32)], [OLD, ("k1", b"2" * 32)]]
)
def test_unusable_keys_are_refused(settings, keys):
    settings.FIELD_KEYS = keys
    with pytest.raises(crypto.KeyMissing):
        crypto.encrypt("secret", context=CONTEXT)


def test_a_context_is_required():
    with pytest.raises(ValueError, match="context"):
        crypto.encrypt("secret", context="")


def test_a_hash_depends_on_the_secret_and_the_installation(settings):
    digest = crypto.hash_secret("key")
    assert digest == crypto.hash_secret("key")
    assert len(digest) == 64
    assert digest != crypto.hash_secret("kez")
    settings.SECRET_KEY = "another-installation"
    assert digest != crypto.hash_secret("key")


def test_comparison():
    assert crypto.constant_time_equal("abc", b"abc")
    assert not crypto.constant_time_equal("abc", "abd")
    assert not crypto.constant_time_equal("\ud800", "é")


def test_a_field_is_never_null_and_keeps_its_tenant_attribute():
    with pytest.raises(ValueError, match="null"):
        crypto.EncryptedTextField(null=True)  # type: ignore[misc]
    field = crypto.EncryptedTextField(tenant_attribute="owner_id")
    assert field.clone().tenant_attribute == "owner_id"


@pytest.mark.usefixtures("_tables")
class TestField:
    def stored(self, row):
        table, column = row._meta.db_table, "token"
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {column} FROM {table} WHERE id = %s", [row.pk])
            return cursor.fetchone()[0]

    def write(self, row, value):
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {row._meta.db_table} SET token = %s WHERE id = %s", [value, row.pk]
            )

    @pytest.mark.parametrize("model", [Vault, Numbered])
    def test_only_ciphertext_is_stored(self, model):
        row = model.objects.create(token="secret")
        assert self.stored(row).startswith("v1:k1:")
        assert model.objects.get(pk=row.pk).token == "secret"
        assert model.objects.defer("token").get(pk=row.pk).token == "secret"
        row.refresh_from_db()
        assert row.token == "secret"
        assert model.objects.values_list("token", flat=True).get() == self.stored(row)

    def test_a_value_moved_to_another_row_raises(self):
        first, second = Vault.objects.create(token="one"), Vault.objects.create(token="two")
        self.write(second, self.stored(first))
        with pytest.raises(crypto.DecryptionFailed):
            _ = Vault.objects.get(pk=second.pk).token

    def test_a_row_moved_to_another_tenant_raises(self):
        row = Vault.objects.create(token="one", client_id=1)
        Vault.objects.filter(pk=row.pk).update(client_id=2)
        with pytest.raises(crypto.DecryptionFailed):
            _ = Vault.objects.get(pk=row.pk).token

    def test_a_copy_with_another_id_fails_before_it_is_written(self):
        row = Vault.objects.get(pk=Vault.objects.create(token="one").pk)
        row.pk = uuid.uuid4()
        with pytest.raises(crypto.DecryptionFailed), transaction.atomic():
            row.save(force_insert=True)
        assert Vault.objects.count() == 1

    def test_saving_an_unchanged_row_encrypts_it_with_the_newest_key(self, settings):
        row = Vault.objects.create(token="secret")
        settings.FIELD_KEYS = [NEW, OLD]
        Vault.objects.get(pk=row.pk).save(update_fields=["token"])
        assert self.stored(row).startswith("v1:k2:")
        assert Vault.objects.get(pk=row.pk).token == "secret"

    def test_writes_without_a_row_and_filters_are_refused(self):
        row = Vault.objects.create(token="secret")
        with pytest.raises(TypeError, match="saving its row"), transaction.atomic():
            Vault.objects.update(token="plain")
        with pytest.raises(FieldError, match="encrypted"):
            Vault.objects.filter(token="secret").exists()
        assert Vault.objects.get(pk=row.pk).token == "secret"

    def test_bulk_create_binds_each_row(self):
        Vault.objects.bulk_create([Vault(token="one"), Vault(token="two")])
        assert {row.token for row in Vault.objects.all()} == {"one", "two"}

    def test_a_dump_holds_no_text(self):
        dump = json.loads(serializers.serialize("json", [Vault.objects.create(token="secret")]))
        assert dump[0]["fields"]["token"].startswith("v1:k1:")
