"""Paths of the tags `identity` and `config`, and a redirect for links in old mails."""

from django.urls import path
from django.views.generic import RedirectView

from identity.views import audit, clients, password_reset, sign_in_providers, tokens, users

socialnet_token = clients.ClientViewSet.as_view({"post": "store_socialnet_token"})
confirm_registration = clients.ClientViewSet.as_view({"post": "confirm_registration"})
resend_registration = clients.ClientViewSet.as_view({"post": "resend_registration"})
reset_password = users.UserViewSet.as_view({"put": "reset_password"})
email_notification = clients.EmailNotificationViewSet.as_view({"get": "retrieve", "post": "update"})
test_email_notification = clients.EmailNotificationViewSet.as_view({"post": "test"})
api_key = clients.ApiKeyViewSet.as_view({"put": "update", "delete": "destroy"})
credit_orders = clients.SubscriptionViewSet.as_view({"get": "orders"})
credit_order = clients.SubscriptionViewSet.as_view({"get": "order"})
receive_payment = clients.SubscriptionViewSet.as_view({"post": "receive_payment"})

sign_in_provider = sign_in_providers.SignInProviderViewSet.as_view(
    {"get": "retrieve", "put": "update", "delete": "destroy"}
)

urlpatterns = [
    # identity
    path("identity/client", clients.ClientViewSet.as_view({"get": "retrieve"})),
    path("identity/socialnet-access-token", socialnet_token),
    path("identity/users", users.UserViewSet.as_view({"post": "create", "get": "list"})),
    path("identity/users/<int:user_id>/disable", users.UserViewSet.as_view({"put": "disable"})),
    path("identity/users/<int:user_id>/reset-password", reset_password),
    path("identity/users/<int:user_id>/role", users.UserViewSet.as_view({"put": "set_role"})),
    path("identity/token2", tokens.TokenViewSet.as_view({"post": "create"})),
    path("identity/users/me", users.UserViewSet.as_view({"get": "me", "put": "update_me"})),
    path("identity/users/me/password", users.UserViewSet.as_view({"put": "change_password"})),
    path("identity/register-trial", clients.ClientViewSet.as_view({"post": "register_trial"})),
    path("identity/confirm-registration", confirm_registration),
    path("identity/resend-registration", resend_registration),
    path(
        "identity/forgot-password",
        password_reset.PasswordResetViewSet.as_view({"post": "request_reset"}),
    ),
    path(
        "identity/verify-reset-token",
        password_reset.PasswordResetViewSet.as_view({"post": "verify"}),
    ),
    path("identity/reset-password", password_reset.PasswordResetViewSet.as_view({"post": "reset"})),
    path("identity/revoke", tokens.TokenViewSet.as_view({"post": "revoke"})),
    path("identity/api-keys", clients.ApiKeyViewSet.as_view({"get": "list", "post": "create"})),
    path("identity/api-keys/<int:api_key_id>", api_key),
    path("identity/subscription", clients.SubscriptionViewSet.as_view({"get": "retrieve"})),
    path("identity/subscription/top-up", clients.SubscriptionViewSet.as_view({"post": "top_up"})),
    path("identity/subscription/orders", credit_orders),
    path("identity/subscription/orders/<uuid:order_id>", credit_order),
    path("identity/subscription/payments", receive_payment),
    path("identity/sign-in-provider", sign_in_provider),
    path("identity/audit", audit.AuditViewSet.as_view({"get": "list"})),
    path("identity/audit/export", audit.AuditViewSet.as_view({"get": "export"})),
    # The URL in mails sent until 2026. A redirect keeps the token after the `#`.
    path("reset-password", RedirectView.as_view(pattern_name="admin:choose_password")),
    # config
    path(
        "config/<int:client_id>/chat",
        clients.ConfigViewSet.as_view({"get": "retrieve", "post": "update"}),
    ),
    path("config/<int:client_id>/email-notification", email_notification),
    path("config/<int:client_id>/email-notification/test", test_email_notification),
]
