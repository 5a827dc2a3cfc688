"""Placeholder until blocking is written."""


def block() -> None:
    raise NotImplementedError
