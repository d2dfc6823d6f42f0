"""Doors left open, and doors that lead nowhere."""

import ipaddress
import re
from collections.abc import Iterator

from ...diagnostics import Diagnostic
from ...profile.quoting import short
from ...profile.types import host_port
from ..facts import Facts

ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s*?#]+")
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")


def open_to_network(facts: Facts) -> Iterator[Diagnostic]:
    security = facts.profile.security
    host, _ = host_port(security.bind)
    if not security.api_keys and not _is_local(host):
        fact = f"{security.bind} is open to the network, and no API key is asked for"
        yield facts.warning("AP0240", "security.bind", fact, "set security.api_keys, or bind 127.0.0.1")


def every_origin(facts: Facts) -> Iterator[Diagnostic]:
    cors = facts.profile.security.cors
    for index, origin in enumerate(cors.origins):
        path = f"security.cors.origins[{index}]"
        if origin == "*" and cors.credentials:
            fact = '"*" together with credentials: true lets every web page act as its visitor'
            yield facts.error("AP0241", path, fact, "list the origins, or set credentials: false")
        elif origin == "*":
            fact = '"*" lets every web page that a browser of your network opens call the server'
            yield facts.warning("AP0242", path, fact, "list the origins that need it")


def origin_form(facts: Facts) -> Iterator[Diagnostic]:
    for index, origin in enumerate(facts.profile.security.cors.origins):
        if origin != "*" and not ORIGIN.fullmatch(origin):
            path = f"security.cors.origins[{index}]"
            fix = f"write {origin.rstrip('/')}" if ORIGIN.fullmatch(origin.rstrip("/")) else "write https://host[:port]"
            yield facts.error("AP0243", path, f"{short(origin)} is not a web origin, no page would match it", fix)


def same_key_twice(facts: Facts) -> Iterator[Diagnostic]:
    keys = facts.profile.security.api_keys
    for index, key in enumerate(keys):
        if key in keys[:index]:
            path = f"security.api_keys[{index}]"
            yield facts.error("AP0244", path, "names the same key as an entry above", "remove one")


def media_hosts(facts: Facts) -> Iterator[Diagnostic]:
    for index, domain in enumerate(facts.profile.security.media.domains):
        if not HOST.fullmatch(domain):
            path = f"security.media.domains[{index}]"
            yield facts.error("AP0245", path, f"{short(domain)} is not a host name", "write cdn.example.org")


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
