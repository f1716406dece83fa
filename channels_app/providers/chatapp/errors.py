"""Error codes that only chatapp has; `graph/errors.py` has those of all Graph providers."""

from channels_app.providers.errors import Kind

# By error code: the number of retries after which the provider advises to stop.
RETRIES = {131000: 3, 131052: 2, 131053: 2, 135000: 1}
KINDS: dict[int, Kind] = {
    # 131056, too many messages to one customer, is not a RATE: only that customer's messages wait.
    **dict.fromkeys(
        (131000, 131016, 131052, 131053, 131056, 131057, 133004, 135000), Kind.TEMPORARY
    ),
    **dict.fromkeys((130429, 131048, 133016), Kind.RATE),
    **dict.fromkeys((33, 131005, 131037, 131045, 133010), Kind.PERMISSION),
    131047: Kind.WINDOW,
    **dict.fromkeys((131026, 131049, 131050, 130472), Kind.RECIPIENT),
    **dict.fromkeys((131031, 131042), Kind.BLOCKED),
    **dict.fromkeys(
        (
            131008, 131009, 131021, 131030, 131051, 132000, 132001, 132005, 132007, 132008, 132012,
            # Only one template is paused or disabled: the number still works.
            132015, 132016, 133005, 133006, 133008, 133009,
        ),
        Kind.REQUEST,
    ),
}  # fmt: skip
