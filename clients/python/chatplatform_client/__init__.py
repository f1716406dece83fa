"""The client of the Chatbot Platform's API."""

from chatplatform_client.api import Client
from chatplatform_client.core import ApiError, verify_webhook

__all__ = ["ApiError", "Client", "verify_webhook"]
