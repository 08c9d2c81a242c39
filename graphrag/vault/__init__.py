"""A vault of linked notes: what its links are like, which it might have, and the files that are changed on request."""
