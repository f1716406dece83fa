"""The pages of one bot, which the tabs Content, Look, Behaviour, Install and Quality lead to."""
