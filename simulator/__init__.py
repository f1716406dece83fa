"""A simulator of the messaging providers.

It imports nothing from the platform. Only the launcher, the tests and the drills import it.
"""
