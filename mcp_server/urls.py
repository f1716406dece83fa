"""The path of the MCP server."""

from django.urls import path

from mcp_server.views import McpViewSet

urlpatterns = [path("mcp", McpViewSet.as_view({"post": "call"}))]
