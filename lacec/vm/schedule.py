"""What of a program is run, in which order, and how long each result is kept."""

from collections.abc import Container, Sequence

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import Block, Code, Kind


def full_blocks(code: Code) -> list[list[Block]]:
    """The blocks of each group that full evaluation runs."""
    blocks: list[list[Block]] = [[] for _ in code.groups]
    for block in code.blocks:
        if block.kind in (Kind.FULL, Kind.DELTA):
            blocks[block.group].append(block)
    return blocks


def needed_groups(
    code: Code,
    blocks: Sequence[Sequence[Block]],
    predicates: Sequence[int],
    done: Container[int] = frozenset(),
) -> list[int]:
    """The groups that these predicates need and that are not done yet, in order."""
    group_of = {p: g for g, group in enumerate(code.groups) for p in group.predicates}
    groups: set[int] = set()
    queue = list(predicates)
    while queue:
        predicate = queue.pop()
        group = group_of.get(predicate)
        if group is None or group in groups or predicate in done:
            continue
        groups.add(group)
        for block in blocks[group]:
            queue += [i[2] for i in block.instructions if i[0] == op.LOAD]
    return sorted(groups)


def last_reads(block: Block) -> list[list[int]]:
    """For each instruction the registers that none after it reads, and nobody need keep."""
    seen: set[int] = set()
    found: list[list[int]] = []
    for opcode, *operands in reversed(block.instructions):
        kinds = [operand.parts[0].kind for operand in op.OPERANDS[opcode]]
        reads = {o for o, kind in zip(operands, kinds, strict=True) if kind in ("in", "complete")}
        found.append([] if opcode == op.EMIT else sorted(reads - seen))
        seen |= reads
    return found[::-1]
