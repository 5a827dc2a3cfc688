"""Who may ask the served pages for anything, and who may write.

The address that is printed holds a token, which is good once: it is traded for a cookie that
scripts cannot read and other sites cannot send (``HttpOnly``, ``SameSite=Strict``). A request that
names another host is refused, so that no foreign name can be pointed at this machine (DNS
rebinding). A form proves that one of our pages made it, and that none of another origin sent it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

COOKIE: Final = "takehome_review"
ENTRANCE: Final = "/enter"

HEADERS: Final = {
    "Content-Security-Policy": "frame-ancestors 'none'",  # the rest stands in each page
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Guard:
    """The secrets of one running server, and the addresses that it answers to."""

    def __init__(self, addresses: tuple[str, ...]) -> None:
        self._addresses = frozenset(addresses)
        self._hosts = frozenset(urlsplit(address).netloc for address in addresses)
        self._token: str | None = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self.form = hmac.new(self._session.encode(), b"form", hashlib.sha256).hexdigest()

    def first_path(self) -> str:
        """Return the path of the first visit."""
        return f"{ENTRANCE}?token={self._token}"

    def enter(self, token: str) -> Response:
        """Trade the token for the cookie; a token that was used once is worth nothing."""
        if self._token is None or not hmac.compare_digest(token.encode(), self._token.encode()):
            return _refusal("this address was used before, or is not whole; start the review again")
        self._token = None
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(COOKIE, self._session, httponly=True, samesite="strict", path="/")
        return response

    def refusal(self, request: Request) -> Response | None:
        """Return why a request is refused, or None."""
        if request.headers.get("host", "") not in self._hosts:
            return _refusal("another host was asked for")
        if request.url.path == ENTRANCE and request.method == "GET":
            return None
        cookie = request.cookies.get(COOKIE, "")
        if not hmac.compare_digest(cookie.encode(), self._session.encode()):
            return _refusal("open the address that takehome review printed")
        if request.method not in ("GET", "HEAD") and not self._is_ours(request):
            return _refusal("another site sent this form")
        return None

    def _is_ours(self, request: Request) -> bool:
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site")
        if (
            origin == "null"
        ):  # a browser's, since the pages say no-referrer; it says the site itself
            return site == "same-origin"
        return site in (None, "same-origin") and (origin is None or origin in self._addresses)

    def expect_form(self, fields: Mapping[str, str]) -> Response | None:
        """Return why a form is refused, or None."""
        if hmac.compare_digest(fields.get("form", "").encode(), self.form.encode()):
            return None
        return _refusal("this form is of an earlier review; load the page again")


class GuardedApp:
    """An application behind a guard."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        refusal = self._guard.refusal(Request(scope))
        return await (refusal or self._app)(scope, receive, send)


def _refusal(reason: str) -> Response:
    return PlainTextResponse(f"Refused: {reason}.\n", status_code=403, headers=HEADERS)
