"""Flaws: every known mistake as a named replacement of parts of the reference."""
