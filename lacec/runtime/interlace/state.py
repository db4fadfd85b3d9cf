"""The states of a machine: what it waits for."""

from enum import Enum


class State(Enum):
    NEW = "to be started"
    # setup and hello
    SETUP = "the peer's setup"
    COMPILING = "the plan of both operands"
    PROVING = "the proof of our verifier"
    HELLO = "the peer's hello"
    CHECKING_PROOF = "whether the peer's proof is valid"
    RECALLING = "the cursor of the link"
    # a loop
    SELECTING = "an evaluation: what to advertise"
    DESCRIBING = "the advertisement records of what is new"
    ADVERTISE = "the peer's offer"
    ASK = "the peer's ask"
    EVALUATING = "an evaluation: what to request"
    REQUEST = "the peer's request"
    TRANSFER = "both batches to end"
    # after it
    REMEMBERING = "the cursor to be kept"
    REST = "something new"
    ENDING = "the store to keep what arrived"
    CLOSED = "nothing"
