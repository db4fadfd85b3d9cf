"""B64A written as 006 says it, one bit at a time: slow, and plain to see."""

SYMBOLS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"


def slow_encode(data: bytes) -> str:
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 6)
    return "".join(SYMBOLS[int(bits[at : at + 6], 2)] for at in range(0, len(bits), 6))


def slow_decode(text: str) -> bytes | None:
    """The bytes; None for a text that nothing encodes to."""
    if any(symbol not in SYMBOLS for symbol in text) or len(text) % 4 == 1:
        return None
    bits = "".join(f"{SYMBOLS.index(symbol):06b}" for symbol in text)
    whole = len(bits) // 8 * 8
    if "1" in bits[whole:]:
        return None
    return bytes(int(bits[at : at + 8], 2) for at in range(0, whole, 8))
