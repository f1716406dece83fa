"""The MCP server: operations of the API as tools for language models and their apps."""
