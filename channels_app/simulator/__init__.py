"""The messaging providers, simulated: the other side of the wire.

It imports nothing of the product. Only the command, the launcher and the tests import it.
"""
