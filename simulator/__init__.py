"""A simulator of the messaging providers.

It imports nothing from the product. Only the launcher, the tests and the drills import it.
"""
