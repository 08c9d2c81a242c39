"""Search over linked documents: whole notes, found at an entry and along the links that people wrote."""
