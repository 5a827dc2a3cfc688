"""The languages that takehome speaks: English as it is written here, and Chinese from a catalog."""

from harness.language.language import (
    ENGLISH,
    LANGUAGES,
    Language,
    message,
    preferred_language,
    stage_name,
)

__all__ = ["ENGLISH", "LANGUAGES", "Language", "message", "preferred_language", "stage_name"]
