"""The pages of one bot, with the tabs Content, Appearance, Behavior, Install and Quality."""
