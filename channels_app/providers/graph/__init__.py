"""Code shared by the Graph providers (socialnet, photoapp, chatapp), which have the same API."""
