"""The knowledge bank: entries that people and agents relate, and notes that they learn, written with their checks."""
