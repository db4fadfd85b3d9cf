"""Signatures (009) once more: with Python's integers alone, as the text says it, and slow.

Only the hash is shared with lacec. Points are pairs; None is the point at infinity.
"""

from blake3 import blake3

P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)

Point = tuple[int, int] | None


def add(a: Point, b: Point) -> Point:
    if a is None or b is None:
        return a or b
    if a[0] == b[0] and a[1] != b[1]:
        return None
    if a == b:
        slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, P) % P
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, P) % P
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def multiply(scalar: int, point: Point) -> Point:
    result: Point = None
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def lift(x: int) -> Point:
    """The point with this x and an even y, if there is one."""
    square = (pow(x, 3, P) + 7) % P
    y = pow(square, (P + 1) // 4, P)
    if x >= P or y * y % P != square:
        return None
    return x, y if y % 2 == 0 else P - y


def tagged(context: str, data: bytes) -> bytes:
    return blake3(data, derive_key_context=f"lace-🖧/{context}").digest()


def even(scalar: int) -> tuple[int, bytes]:
    point = multiply(scalar, G)
    assert point is not None
    return (scalar if point[1] % 2 == 0 else N - scalar), point[0].to_bytes(32, "big")


def key(material: bytes) -> tuple[int, bytes]:
    """The scalar and the verifier's bytes of a signing secret."""
    output = blake3(material, derive_key_context="lace-🖧/adhoc-key").digest(length=32 * 8)
    pieces = [int.from_bytes(output[at : at + 32], "big") for at in range(0, len(output), 32)]
    return even(next(piece for piece in pieces if 0 < piece < N))


def sign(digest: bytes, scalar: int, verifier: bytes, aux: bytes) -> bytes:
    mask = bytes(a ^ b for a, b in zip(tagged("aux", aux), scalar.to_bytes(32, "big"), strict=True))
    k0 = int.from_bytes(tagged("nonce", mask + verifier + digest), "big") % N
    assert k0
    k, r = even(k0)
    e = int.from_bytes(tagged("challenge", r + verifier + digest), "big") % N
    return r + ((k + e * scalar) % N).to_bytes(32, "big")


def difference(s: int, e: int, point: Point) -> Point:
    """s*G - e*P."""
    return add(multiply(s, G), multiply((N - e) % N, point))


def verify(digest: bytes, verifier: bytes, signature: bytes) -> bool:
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    point = lift(int.from_bytes(verifier, "big"))
    if r >= P or s >= N or point is None:
        return False
    e = int.from_bytes(tagged("challenge", signature[:32] + verifier + digest), "big") % N
    found = difference(s, e, point)
    return found is not None and found[1] % 2 == 0 and found[0] == r
