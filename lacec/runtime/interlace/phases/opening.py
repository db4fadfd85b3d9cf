"""Setup and hello (050): from the two operands to an agreement, once in each epoch."""

from lacec.runtime.interlace.events import (
    COMPILE_REASONS,
    CheckProof,
    Compile,
    Compiled,
    NotCompiled,
    Proof,
    ProofChecked,
    Prove,
    Recall,
    Recalled,
    Send,
    Start,
)
from lacec.runtime.interlace.hello import limits_to_tell, link_id, negotiate, offered_schema
from lacec.runtime.interlace.link import Epoch, Link
from lacec.runtime.interlace.messages import UNASSIGNED, Hello, Offer, Setup
from lacec.runtime.interlace.phases.advertising import begin_loop
from lacec.runtime.interlace.reasons import Abort
from lacec.runtime.interlace.state import State
from lacec.runtime.interlace.tick import Ticks, tai_text


def on_start(link: Link, _: Start) -> State:
    link.emit(Send(link.epoch.setup))
    return State.SETUP


def on_setup(link: Link, setup: Setup) -> State:
    """The peer's operand, in answer to ours."""
    epoch = link.epoch
    if setup.index == link.config.index:
        raise Abort("operand-index-conflict", f"both sides brought operand {setup.index}")
    if setup.facet != epoch.setup.facet:
        raise Abort("malformed-exchange-module", "the operand of the peer is no selector")
    if setup.origin != UNASSIGNED and setup.origin == link.config.claim:
        raise Abort("peer-verifier-mismatch", "the peer claims the verifier of this side")
    epoch.peer_setup, epoch.crossing = setup, False
    link.emit(Compile(epoch.setup, setup))
    return State.COMPILING


def on_crossing_offer(link: Link, _: Offer) -> State:
    """Setup wins over a loop that the peer began at the same time, which is dropped (D18a)."""
    if not link.epoch.crossing:
        raise Abort("out-of-phase", "an advertise block before setup")
    link.epoch.crossing = False
    return State.SETUP


def on_new_setup(link: Link, setup: Setup) -> State:
    """The peer begins a new epoch, where its advertise block could stand."""
    if link.next_module is not None:
        link.module, link.next_module = link.next_module, None
    link.epoch = Epoch(link.make_setup())
    link.emit(Send(link.epoch.setup))
    return on_setup(link, setup)


def on_compiled(link: Link, compiled: Compiled) -> State:
    link.epoch.compiled = compiled
    if link.config.claim is None:
        return _greet(link, None)
    link.emit(Prove(compiled.plan, link.epoch.setup, link.peer_setup))
    return State.PROVING


def on_not_compiled(_: Link, event: NotCompiled) -> State:
    assert event.reason in COMPILE_REASONS, event.reason
    raise Abort(event.reason, event.detail)


def on_proof(link: Link, proof: Proof) -> State:
    if not proof.proven:
        raise Abort("peer-verifier-mismatch", "this side cannot prove the verifier it claimed")
    link.epoch.proven = True
    return _greet(link, proof.signature)


def _greet(link: Link, signature: str | None) -> State:
    config = link.config
    hello = Hello(
        link.compiled.plan,
        tai_text(link.tai),
        config.tick_interval,
        config.formats,
        offered_schema(link.compiled.required, config.fields),
        limits_to_tell(config.limits, config.partitions),
        config.claim if link.epoch.proven else None,
        signature,
    )
    link.epoch.hello = hello
    link.emit(Send(hello))
    return State.HELLO


def on_hello(link: Link, hello: Hello) -> State:
    config, epoch, peer_setup = link.config, link.epoch, link.peer_setup
    assert epoch.hello is not None
    claimed = None if peer_setup.origin == UNASSIGNED else peer_setup.origin
    if hello.signer != claimed:
        raise Abort("peer-verifier-mismatch", "hello does not name the verifier claimed at setup")
    if hello.signer is None and (config.demand_proof or hello.proof is not None):
        raise Abort("peer-verifier-mismatch", "the peer does not prove who it is")
    epoch.agreement = negotiate(
        epoch.hello, hello, link.compiled.required, config.limits, config.own_limits
    )
    epoch.peer_hello = hello
    if hello.signer is None:
        return _agree(link)
    plan = link.compiled.plan
    link.emit(CheckProof(plan, epoch.setup, peer_setup, hello.signer, hello.proof))
    return State.CHECKING_PROOF


def on_proof_checked(link: Link, event: ProofChecked) -> State:
    if not event.valid:
        detail = event.detail or "the proof of the peer is not valid"
        raise Abort("peer-verifier-mismatch", detail)
    assert link.epoch.peer_hello is not None
    link.epoch.peer_verifier = link.epoch.peer_hello.signer
    return _agree(link)


def _agree(link: Link) -> State:
    agreement, epoch = link.agreement, link.epoch
    epoch.ticks = Ticks.begin(agreement.start, agreement.interval, agreement.skew_seconds)
    claim = link.config.claim
    if not epoch.proven or claim is None or epoch.peer_verifier is None:
        return begin_loop(link)
    epoch.link_id = link_id(claim, epoch.peer_verifier, link.compiled.plan)
    link.emit(Recall(epoch.link_id))
    return State.RECALLING


def on_recalled(link: Link, event: Recalled) -> State:
    """A cursor of another schema has other digests, and is of no use."""
    if event.cursor is not None and event.cursor.schema == link.agreement.schema:
        link.epoch.recalled = link.epoch.peer = event.cursor.records
    return begin_loop(link)
