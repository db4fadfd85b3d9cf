"""TLS for wss: whom to believe, and the certificate to show.

A client always verifies the chain and the host; there is no way to switch that off. What a
server shows is the binding of signer proofs (D26).
"""

import ssl
from dataclasses import dataclass
from pathlib import Path

from blake3 import blake3

from lacec.records import b64a
from lacec.runtime.iltp.channel import ChannelError


@dataclass(frozen=True)
class ServerTls:
    """A server's certificate and its key; `binding` is the digest of the certificate."""

    context: ssl.SSLContext
    binding: str


def client_context(authorities: Path | None = None) -> ssl.SSLContext:
    """Believe the authorities of a file, or those of the system."""
    try:
        context = ssl.create_default_context(cafile=authorities)
    except (OSError, ssl.SSLError) as error:
        raise ChannelError(f"cannot read the authorities in {authorities}: {error}") from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def server_tls(certificate: Path, key: Path | None = None) -> ServerTls:
    """The chain in a PEM file, the server's own certificate first, and its key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
        text = certificate.read_text(encoding="ascii", errors="replace")
        begin = text.index("-----BEGIN CERTIFICATE-----")
        end = text.index(_END, begin) + len(_END)
        der = ssl.PEM_cert_to_DER_cert(text[begin:end])
    except (OSError, ValueError, ssl.SSLError) as error:
        raise ChannelError(f"cannot use the certificate in {certificate}: {error}") from None
    return ServerTls(context, certificate_binding(der))


_END = "-----END CERTIFICATE-----"


def certificate_binding(der: bytes) -> str:
    """What stands for the channel in a signer proof (D26)."""
    return b64a.encode(blake3(der).digest())
