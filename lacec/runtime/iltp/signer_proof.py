"""Signer proofs (D26, D27): how a side shows on a connection that it is who it claims to be.

In: what is known about the connection, and the questions of the machine. Out: a signature
over everything that the two sides agreed on and the channel itself, and whether the peer's
is one. Where the system or the caller knows the peer, that stands in for a signature.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from blake3 import blake3

from lacec.records import b64a
from lacec.records.signature import Secret, sign, verify
from lacec.runtime.iltp.channel import UNBOUND, About
from lacec.runtime.interlace.events import CheckProof, Proof, ProofChecked, Prove
from lacec.runtime.interlace.messages import UNASSIGNED, Setup

TAG = "lace-signer-proof/v1"
NONCE_BYTES = 32


@dataclass(frozen=True)
class Identity:
    """A verifier, and its secret if it is to sign."""

    verifier: str
    secret: Secret | None = None

    @classmethod
    def of(cls, secret: Secret) -> "Identity":
        return cls(secret.verifier, secret)


@dataclass(frozen=True)
class Trust:
    """By what a side lets its peers prove who they are.

    `unbound` lets a signature count on unencrypted tcp and ws, where nothing ties what comes
    after hello to the signer. `users` says which verifier a uid is on unix sockets, and
    `caller` who is at the other end of stdio: whoever started the process knows.
    """

    demanded: bool = False
    unbound: bool = False
    users: Mapping[int, str] = field(default_factory=dict)
    caller: str | None = None


def takes_signatures(about: About, trust: Trust) -> bool:
    """Whether a signature proves anything on this connection."""
    return about.local or about.binding != UNBOUND or trust.unbound


def claim(about: About, identity: Identity | None, trust: Trust) -> str | None:
    """The verifier to claim at setup: one that can be proven on this connection."""
    if identity is None or not takes_signatures(about, trust):
        return None
    return identity.verifier if identity.secret is not None or about.local else None


def make_nonce(about: About, trust: Trust) -> str | None:
    """A SignerNonce, wherever a signature proves anything: the peer may want to sign."""
    if not takes_signatures(about, trust):
        return None
    return b64a.encode(os.urandom(NONCE_BYTES))


def proof_digest(plan: str, signer: Setup, peer: Setup, verifier: str, binding: str) -> bytes:
    """What is signed (D26)."""
    lines = (
        TAG,
        plan,
        str(signer.index),
        verifier,
        UNBOUND if peer.origin == UNASSIGNED else peer.origin,
        signer.nonce,
        peer.nonce,
        binding,
    )
    return blake3("".join(f"{line}\n" for line in lines).encode("utf-8")).digest()


class ConnectionProver:
    """Proves, and has proven, on one connection."""

    def __init__(self, about: About, identity: Identity | None, trust: Trust) -> None:
        self._about, self._identity, self._trust = about, identity, trust

    def prove(self, question: Prove) -> Proof:
        identity, own, peer = self._identity, question.own, question.peer
        if identity is None or own.origin != identity.verifier:
            return Proof(False)
        if identity.secret is None or own.nonce is None or peer.nonce is None:
            # D27: the peer may know by other means; if it does not, it says so.
            return Proof(self._about.local)
        digest = proof_digest(question.plan, own, peer, own.origin, self._about.binding)
        return Proof(True, sign(digest, identity.secret))

    def check(self, question: CheckProof) -> ProofChecked:
        known = self._known()
        if known is not None and known != question.signer:
            return ProofChecked(False, "the peer is known as another verifier")
        if question.signature is not None:
            return self._check_signature(question, question.signature)
        if known is None:
            return ProofChecked(False, "there is no signature, and nobody knows the peer")
        return ProofChecked(True)

    def _known(self) -> str | None:
        """Who the peer is, by the system or the caller (D27)."""
        about, trust = self._about, self._trust
        if about.uid is not None:
            return trust.users.get(about.uid)
        return trust.caller if about.local else None

    def _check_signature(self, question: CheckProof, signature: str) -> ProofChecked:
        own, peer = question.own, question.peer
        if not takes_signatures(self._about, self._trust):
            detail = "a signature proves nothing on an unencrypted connection, unless allowed"
            return ProofChecked(False, detail)
        if own.nonce is None or not _is_nonce(peer.nonce) or peer.nonce == own.nonce:
            return ProofChecked(False, "a proof needs a fresh nonce of each side")
        binding = self._about.binding
        digest = proof_digest(question.plan, peer, own, question.signer, binding)
        if not verify(digest, question.signer, signature):
            return ProofChecked(False, "the signature is not the claimed verifier's for this link")
        return ProofChecked(True)


def _is_nonce(text: str | None) -> bool:
    try:
        return text is not None and len(b64a.decode(text)) == NONCE_BYTES
    except b64a.B64AError:
        return False
