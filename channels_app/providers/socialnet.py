"""socialnet: pages, whose customers write in the provider's messenger."""

from typing import Any

from channels_app.providers import http
from channels_app.providers.graph import pages
from channels_app.providers.graph.client import GraphApp
from channels_app.providers.graph.provider import Messenger
from channels_app.providers.json_values import as_dict
from channels_app.providers.types import (
    Account,
    AccountsPage,
    Connected,
    Envelope,
    ListedAccount,
    Profile,
    SurveyRequest,
    Tokens,
)


class Socialnet(Messenger):
    """A page's token does not expire. The echo of a send contains our id of the send."""

    channel = "socialnet"
    app = GraphApp("socialnet", "SOCIALNET_API_URL")
    has_survey = True
    scopes = (
        "pages_show_list", "pages_messaging", "pages_manage_metadata", "pages_read_engagement",
        "business_management",
    )  # fmt: skip
    needed = ("pages_messaging", "pages_manage_metadata")
    max_text = 2000  # characters
    file_fields = {"is_reusable": True}

    def app_ids(self) -> set[str]:
        return {self.app.setting("APP_ID")}

    def list_accounts(self, token: str, *, cursor: str | None, limit: int) -> AccountsPage:
        rows, following = pages.listed(self.app, token, "picture{url}", cursor=cursor, limit=limit)
        accounts = []
        for row in rows:
            url = as_dict(as_dict(row.get("picture")).get("data")).get("url")
            picture = str(url) if url else None
            accounts.append(ListedAccount(str(row["id"]), str(row.get("name") or ""), picture))
        return AccountsPage(accounts, following)

    def connect(self, token: str, account_id: str) -> Connected:
        """Get the page's own token and subscribe to its events."""
        path = http.path_segment(account_id)
        fields = {"fields": "id,name,access_token"}
        body = self.app.call("GET", path, token=token, params=fields).body
        page_token = pages.subscribe(self.app, account_id, body.get("access_token"))
        name = str(body.get("name") or "")[:200]
        return Connected(
            account_id, name, Tokens(page_token), {"page_id": account_id},
            missing_permissions=self.missing_permissions(token),
        )  # fmt: skip

    def profile(self, account: Account, user_id: str) -> Profile:
        body = self.app.call(
            "GET", http.path_segment(user_id), token=account.token,
            params={"fields": "first_name,last_name,name,profile_pic"},
        ).body  # fmt: skip
        names = [body.get("first_name"), body.get("last_name")]
        name = body.get("name") or " ".join(str(item) for item in names if item)
        return Profile(name=str(name or ""), avatar_url=str(body.get("profile_pic") or ""))

    def send_body(self, message: dict[str, Any], envelope: Envelope) -> dict[str, Any]:
        message = message | {"metadata": envelope.send_id}
        body = {"messaging_type": "RESPONSE"} | super().send_body(message, envelope)
        if envelope.reply_to:
            body["reply_to"] = {"mid": envelope.reply_to}
        return body

    def send_survey(self, account: Account, survey: SurveyRequest) -> None:
        """Ask for one to five stars and a comment."""
        question = {
            "id": survey.question_id,
            "type": "csat",
            "title": survey.title,
            "score_label": "neg_pos",
            "score_option": "five_stars",
            "follow_up": {"type": "free_form"},
        }
        payload = {
            "template_type": "customer_feedback",
            "title": survey.title,
            "subtitle": survey.subtitle,
            "button_title": survey.button,
            "feedback_screens": [{"questions": [question]}],
            "business_privacy": {"url": survey.privacy_url},
            "expires_in_days": 3,
        }
        body = {
            "recipient": {"id": survey.recipient_id},
            "messaging_type": "UPDATE",
            "message": {"attachment": {"type": "template", "payload": payload}},
        }
        self._call(account, "messages", json=body, is_send=True)
