"""Finds, stores and removes a client's own OpenID provider, tells whether it replaces passwords,
and mails the sign-in link."""

from django.conf import settings
from django.db import transaction

from chatplatform import egress, jobs
from chatplatform.api.errors import Invalid, first_or_404, require_address
from identity.models import AttemptKind, Client, ProviderAccount, Role, SignInProvider, User
from identity.schemas.sign_in_providers import SignInProviderDto
from identity.services import attempts, audit, mails

_SETTINGS = ("issuer", "application_id", "email_domains", "is_required", "creates_agents")
PURPOSE = "sign-in"


def get(client: Client) -> SignInProvider:
    """The client's provider; 404 if it has none."""
    return first_or_404(SignInProvider.objects.for_client(client))


def find(code: str) -> SignInProvider | None:
    """The provider of the client with this code; None if the client has none or is disabled."""
    rows = SignInProvider.objects.select_related("client")
    return rows.filter(client__code=code, client__is_disabled=False).first()


def described(row: SignInProvider) -> SignInProviderDto:
    """The provider as the API describes it, with the sign-in link and the redirect URL."""
    return SignInProviderDto.from_row(
        row, sign_in_url=sign_in_url(row.client), redirect_url=redirect_url()
    )


def sign_in_url(client: Client) -> str:
    """The link with which a client's people sign in at its provider."""
    return f"{settings.PUBLIC_URL}/admin/sign-in/{client.code}/"


def redirect_url() -> str:
    """The URL to which every provider redirects people; never taken from a request."""
    return f"{settings.PUBLIC_URL}/admin/signed-in/"


def store(client: Client, *, body: SignInProviderDto, by: User) -> SignInProvider:
    """Set the client's provider. Fields that are not set in `body` keep their values; 422 for a new
    issuer without a secret."""
    # Before the transaction, since resolving the host name may take seconds.
    _check_destination(body.issuer)
    with transaction.atomic():
        # Locked, so that two concurrent requests do not both insert a row.
        Client.objects.select_for_update(no_key=True).get(pk=client.pk)
        row = SignInProvider.objects.for_client(client).first() or SignInProvider(client=client)
        row.application_secret = _merged_secret(row, body)
        for name in {*_SETTINGS} if row._state.adding else body.model_fields_set & {*_SETTINGS}:
            setattr(row, name, getattr(body, name))
        # An admin could set up a provider in order to sign in as anyone. That must not work for
        # owners.
        row.admits_owners = by.role == Role.OWNER
        row.save()
        changes = {name: getattr(row, name) for name in (*_SETTINGS, "admits_owners")}
        replaced = {"secret_replaced": body.application_secret is not None}
        _record(client, "sign_in_provider.set", by, changes | replaced)
    return row


def remove(client: Client, *, by: User) -> None:
    """Remove the client's provider, if there is one, and the stored references to people's accounts
    there. People then sign in by password again."""
    with transaction.atomic():
        row = SignInProvider.objects.for_client(client).select_for_update().first()
        if row:
            _record(client, "sign_in_provider.removed", by, {"issuer": row.issuer})
            row.delete()
            ProviderAccount.objects.for_client(client).delete()


def is_required(user: User) -> bool:
    """Whether this person must sign in at the provider. Owners may always use their password."""
    if user.client is None or user.role == Role.OWNER:
        return False
    return SignInProvider.objects.for_client(user.client).filter(is_required=True).exists()


def ask_link(*, email: str, address: str) -> None:
    """Enqueue a job that mails the client's sign-in link to the person with this address, if the
    client has a provider.

    The job looks up the address, so that the response does not reveal which accounts exist. The
    person is not redirected to the provider at once. Otherwise a client could send strangers to its
    own provider.
    """
    attempts.start(AttemptKind.ASK_LINK, address=address, account=email)
    jobs.enqueue("identity.send_sign_in_link", client_id=None, email=email)


def send_link(*, email: str) -> None:
    """Mail the client's sign-in link to the person with this address, if the person may sign in,
    the client has a provider and the limit on mails is not reached."""
    user = User.objects.select_related("client").filter(email=email).first()
    if user is None or user.client is None or not user.is_active:
        return
    if SignInProvider.objects.for_client(user.client).exists():
        context = {"company": user.client.name, "link": sign_in_url(user.client)}
        with mails.limit_link_mails(f"sign-in:{email}") as may_send:
            if may_send:
                mails.deliver("sign_in_link", to=[email], language=user.language, context=context)


def _merged_secret(row: SignInProvider, body: SignInProviderDto) -> str:
    """The secret to store: the new secret, or the stored secret if the issuer stays the same.
    Otherwise raises a 422, because the stored secret must not be sent to another issuer."""
    if body.application_secret is not None:
        return body.application_secret
    if row._state.adding or row.issuer != body.issuer:
        msg = "Enter the client secret. The saved one isn't used for a new issuer."
        raise Invalid.field("body", "application_secret", msg=msg)
    return row.application_secret


def _check_destination(issuer: str) -> None:
    require_address(issuer, "issuer", purpose=PURPOSE)
    if not egress.keeps_secrets(issuer, purpose=PURPOSE):
        msg = "The issuer must be an https address."
        raise Invalid.field("body", "issuer", msg=msg, type="insecure")


def _record(client: Client, action: str, by: User, changes: dict[str, object]) -> None:
    audit.record(client.pk, action, by=by, subject=f"client:{client.pk}", changes=changes)
