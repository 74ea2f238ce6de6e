"""Where an endpoint is, and the key for it: out of the environment, when it is needed."""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import SplitResult, urlsplit

from trellis.errors import SettingError

_ADDED = "/chat/completions"


def checked_url(base_url: object) -> str:
    """The same address, without a slash at its end; SettingError where it is none that can be asked. What it has is not
    shown: there may be a password in it."""
    wrong = "expected an address such as https://host/v1, without user, password, ? and #"
    if not isinstance(base_url, str) or not base_url.isascii() or not base_url.isprintable() or " " in base_url:
        raise SettingError(f"base_url is no address; {wrong}")
    try:
        url = urlsplit(base_url)
        port, host = url.port, url.hostname
    except ValueError:
        raise SettingError(f"base_url is no address; {wrong}") from None
    if url.scheme not in ("http", "https"):
        raise SettingError(f"base_url is neither http nor https; {wrong}")
    if not host or port == 0:
        raise SettingError(f"base_url lacks the {'port' if host else 'host'}; {wrong}")
    for part, there in (("a user", "@" in url.netloc), ("a ?", "?" in base_url), ("a #", "#" in base_url)):
        if there:
            raise SettingError(f"base_url has {part}; {wrong}")
    address = base_url.rstrip("/")
    if address.endswith(_ADDED):
        raise SettingError(f"base_url ends in {_ADDED}, which is added to it; leave that out")
    return address


def is_loopback(url: SplitResult) -> bool:
    """Whether the host is this machine."""
    host = url.hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def key_from(variable: str | None, url: SplitResult) -> str | None:
    """The key in an environment variable; a server on this machine needs none."""
    key = os.environ.get(variable, "").strip() if variable else ""
    if not key:
        if variable and not is_loopback(url):
            raise SettingError(
                f"the environment variable {variable} has no key for {url.hostname}; set it, name another one "
                "(key_variable=...), or none where no key is needed (key_variable=None)"
            )
        return None
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingError(f"what the environment variable {variable} has cannot be a key; expected one ASCII word")
    return key
