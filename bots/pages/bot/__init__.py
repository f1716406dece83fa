"""The pages of one bot: Content, Appearance, Behavior, Install and Quality."""
