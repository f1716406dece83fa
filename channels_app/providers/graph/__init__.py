"""What the providers of the Graph family share: calls, errors, consent, callbacks."""
