"""Address strings (060): where a peer listens, as text.

tcp:example.com        →  Address("tcp", host="example.com", port=4790)
wss:[::1]:8443         →  Address("wss", host="::1", port=8443, path="/interlace")
unix:/run/lace.sock    →  Address("unix", path="/run/lace.sock")
stdio                  →  Address("stdio")
"""

import ipaddress
import re
import unicodedata
from dataclasses import dataclass

from lacec.core.diagnostics import quote
from lacec.core.errors import AddressError

PATH = "/interlace"
DEFAULT_PORTS = {"tcp": 4790, "ws": 80, "wss": 443}
SCHEMES = ("stdio", "unix", *DEFAULT_PORTS)
UNIX_PATH_BYTES = 107  # what the address of a socket holds

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*\.?")
_PORT = re.compile(r"0|[1-9][0-9]{0,4}")


@dataclass(frozen=True, slots=True)
class Address:
    """A transport endpoint. Port 0 is any free port, for one who listens."""

    scheme: str
    host: str = ""
    port: int = 0
    path: str = ""

    def __str__(self) -> str:
        """The address string: for tcp with its port, for ws and wss with its path."""
        if self.scheme == "stdio":
            return "stdio"
        if self.scheme == "unix":
            return f"unix:{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        if self.scheme != "tcp" and self.port == DEFAULT_PORTS[self.scheme]:
            return f"{self.scheme}:{host}{self.path}"
        return f"{self.scheme}:{host}:{self.port}{self.path}"


def parse_address(text: str) -> Address:
    """The address that a text is; AddressError says what is wrong with any other."""
    if text == "stdio":
        return Address("stdio")
    scheme, colon, rest = text.partition(":")
    if scheme not in SCHEMES or not colon:
        raise _wrong(text, f"an address begins with one of {', '.join(SCHEMES)}")
    if scheme == "stdio":
        raise _wrong(text, "write stdio alone, with no colon")
    if scheme == "unix":
        return _unix(text, rest)
    if rest.startswith("//"):
        raise _wrong(text, f"this is no URL: write {scheme}:host, without //")
    if scheme == "tcp":
        host, port = _host_and_port(text, rest, DEFAULT_PORTS[scheme])
        return Address(scheme, host, port)
    endpoint, slash, path = rest.partition("/")
    if slash and slash + path != PATH:
        raise _wrong(text, f"the path of {scheme} is {PATH}, with nothing after it")
    host, port = _host_and_port(text, endpoint, DEFAULT_PORTS[scheme])
    return Address(scheme, host, port, PATH)


def _unix(text: str, path: str) -> Address:
    if not path.startswith("/"):
        raise _wrong(text, "the path of a unix socket is absolute")
    size = len(path.encode("utf-8", "surrogatepass"))
    if size > UNIX_PATH_BYTES:
        help = f"a unix socket's path has at most {UNIX_PATH_BYTES} bytes, not {size}"
        raise _wrong(text, help)
    if not path.isprintable() or not unicodedata.is_normalized("NFC", path):
        raise _wrong(text, "a path is printable NFC text")
    return Address("unix", path=path)


def _host_and_port(text: str, rest: str, default: int) -> tuple[str, int]:
    """A host and a port; the default where none is given."""
    if rest.startswith("["):
        inside, bracket, after = rest[1:].partition("]")
        if not bracket or (after and not after.startswith(":")):
            raise _wrong(text, "an IPv6 address is written [address] or [address]:port")
        try:
            host = str(ipaddress.IPv6Address(inside))
        except ValueError:
            raise _wrong(text, "what stands in brackets is no IPv6 address") from None
        if "%" in host:
            raise _wrong(text, "an IPv6 address has no zone here")
    else:
        host, colon, port = rest.partition(":")
        if ":" in port:
            raise _wrong(text, "an IPv6 address stands in brackets")
        _check_host(text, host)
        after = colon + port
    if not after:
        return host, default
    port = after[1:]
    if not _PORT.fullmatch(port) or int(port) > 65535:
        raise _wrong(text, "a port is a decimal number up to 65535")
    return host, int(port)


def _check_host(text: str, host: str) -> None:
    if not _NAME.fullmatch(host):
        raise _wrong(text, "a host is a name, an IPv4 address, or an IPv6 address in brackets")
    # A name whose last label is a number would be read as an IPv4 address.
    if host.rstrip(".").rpartition(".")[2].isdigit():
        try:
            ipaddress.IPv4Address(host)
        except ValueError:
            raise _wrong(text, "this host is no IPv4 address, and no name either") from None


def _wrong(text: str, help: str) -> AddressError:
    return AddressError(f"{quote(text[:200])} is no address: {help}")
