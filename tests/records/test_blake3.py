"""BLAKE3 itself: vectors that its authors publish, so that a wrong library is found here."""

import pytest
from blake3 import blake3

KEY = b"whats the Elvish word for friend"
CONTEXT = "BLAKE3 2019-12-27 16:29:52 test vectors context"

# The length of the input, then the first 32 bytes in each mode.
VECTORS = [
    (
        0,
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
        "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26",
        "2cc39783c223154fea8dfb7c1b1660f2ac2dcbd1c1de8277b0b0dd39b7e50d7d",
    ),
    (
        1,
        "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
        "6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b",
        "b3e2e340a117a499c6cf2398a19ee0d29cca2bb7404c73063382693bf66cb06c",
    ),
    (
        1023,
        "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11",
        "c951ecdf03288d0fcc96ee3413563d8a6d3589547f2c2fb36d9786470f1b9d6e",
        "74a16c1c3d44368a86e1ca6df64be6a2f64cce8f09220787450722d85725dea5",
    ),
    (
        1024,
        "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
        "75c46f6f3d9eb4f55ecaaee480db732e6c2105546f1e675003687c31719c7ba4",
        "7356cd7720d5b66b6d0697eb3177d9f8d73a4a5c5e968896eb6a689684302706",
    ),
    (
        1025,
        "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444",
        "357dc55de0c7e382c900fd6e320acc04146be01db6a8ce7210b7189bd664ea69",
        "effaa245f065fbf82ac186839a249707c3bddf6d3fdda22d1b95a3c970379bcb",
    ),
    (
        4097,
        "9b4052b38f1c5fc8b1f9ff7ac7b27cd242487b3d890d15c96a1c25b8aa0fb995",
        "00df940cd36bb9fa7cbbc3556744e0dbc8191401afe70520ba292ee3ca80abbc",
        "aca51029626b55fda7117b42a7c211f8c6e9ba4fe5b7a8ca922f34299500ead8",
    ),
]


@pytest.mark.parametrize(("length", "hashed", "keyed", "derived"), VECTORS)
def test_published_vector(length: int, hashed: str, keyed: str, derived: str) -> None:
    data = bytes(number % 251 for number in range(length))
    assert blake3(data).hexdigest() == hashed
    assert blake3(data, key=KEY).hexdigest() == keyed
    assert blake3(data, derive_key_context=CONTEXT).hexdigest() == derived


def test_output_goes_on_after_32_bytes() -> None:
    """The extendable output, from which a key is taken."""
    whole = blake3(b"", derive_key_context=CONTEXT).digest(length=64)
    assert whole.hex().startswith(VECTORS[0][3] + "905630c8be290dfcf3e6842f13bddd57")
    assert blake3(b"", derive_key_context=CONTEXT).digest(length=32, seek=32) == whole[32:]
