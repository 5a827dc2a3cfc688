"""Criteria: one function per property of a right answer, shared by the specs that count it."""
