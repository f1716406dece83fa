"""Names of the events in the streams that the platform sends: one list for server and browser."""

from enum import StrEnum


class StreamEvent(StrEnum):
    """An event that is not in the log of events; those have names such as `message.created`."""

    # A reply, while it is made.
    MESSAGE = "message"  # the customer's message is stored
    DELTA = "delta"  # a further piece of the reply's text
    RESET = "reset"  # the pieces shown so far do not count
    JOINED = "joined"  # a later message is answered together with this one; never sent on
    DONE = "done"  # the finished answer, always the last event
    # The live feed of the desk.
    READY = "ready"  # the stream is open: who is online
    PRESENCE = "presence"  # a person came or went
    TYPING = "typing"  # somebody types, or stopped
