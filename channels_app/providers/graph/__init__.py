"""The shared code of the Graph family's providers: calls, errors, consent, callbacks."""
