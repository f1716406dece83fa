"""The messaging providers, simulated: the other side of the wire.

It imports nothing of the product. Only the launcher, the tests and the drills import it.
"""
