"""Public-domain English from two Debian packages, cut into training, validation and calibration text.

r-cran-janeaustenr holds Jane Austen's six novels (1811-1817), dict-devil Ambrose Bierce's The Devil's Dictionary
(1911): long sentences of dialogue beside short, sour definitions, so that a model calibrated on one can be tried on
the other. Fetch them with `apt-get download r-cran-janeaustenr dict-devil`; nothing needs to be installed.
"""

from __future__ import annotations

import gzip
import io
import re
import struct
import subprocess
import tarfile
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

AUSTEN = "./usr/lib/R/site-library/janeaustenr/data/Rdata.rdb"
DEVIL = "./usr/share/dictd/devil.dict.dz"
DEVIL_STARTS, DEVIL_ENDS = "\nABASEMENT, n.", "abcdefghij"  # around it stand the dictionary server's own lines
HELD_OUT = 20  # one part in twenty of each text, its end, is never trained on
R_STRING = 9  # the type of one string in R's serialized data


@dataclass(frozen=True)
class Corpus:
    """Text by its source: what is trained on, and what is held out."""

    train: dict[str, str]
    held_out: dict[str, str]


def read(folder: Path) -> Corpus:
    """The corpus from a folder with the two .deb files. FileNotFoundError naming the one that lacks."""
    devil = gzip.decompress(_packed_file(folder, "dict-devil", DEVIL)).decode("latin-1")
    novels = _novels(_packed_file(folder, "r-cran-janeaustenr", AUSTEN))
    texts = {"austen": "\n".join(novels), "devil": devil[devil.index(DEVIL_STARTS) : devil.rindex(DEVIL_ENDS)]}
    plain = {name: ascii_text(text) for name, text in texts.items()}
    ends = {name: len(text) - len(text) // HELD_OUT for name, text in plain.items()}
    return Corpus(
        {name: text[: ends[name]] for name, text in plain.items()},
        {name: text[ends[name] :] for name, text in plain.items()},
    )


def ascii_text(text: str) -> str:
    """The same text in ASCII: accents dropped, runs of blank lines and of spaces shortened."""
    text = unicodedata.normalize("NFKD", text.replace("\r", "")).encode("ascii", "ignore").decode()
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+", " ", text)).replace("\n ", "\n").strip() + "\n"


def _packed_file(folder: Path, package: str, path: str) -> bytes:
    found = sorted(folder.glob(f"{package}_*.deb"))
    if not found:
        raise FileNotFoundError(f"no {package}_*.deb in {folder}: run `apt-get download {package}` there")
    tar = subprocess.run(["dpkg-deb", "--fsys-tarfile", found[-1]], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(tar)) as packed:
        member = packed.extractfile(path)
        assert member is not None, f"{path} is no file"
        return member.read()


def _novels(database: bytes) -> Iterator[str]:
    """The novels of R's lazy-load database: stretches of (uint32 length, zlib stream), each a vector of lines."""
    while database:
        stream = zlib.decompressobj()
        yield "\n".join(_strings(stream.decompress(database[4:])))
        database = stream.unused_data


def _strings(serialized: bytes) -> Iterator[str]:
    """Every string in R's XDR format: big-endian flags whose low byte is the type, a length, the bytes."""
    start = serialized.index(b"\x00\x00\x00\x10") + 8  # a vector of strings, and how many
    while start + 8 <= len(serialized):
        flags, length = struct.unpack(">Ii", serialized[start : start + 8])
        if flags & 0xFF != R_STRING:
            return
        start += 8
        yield serialized[start : start + length].decode("utf-8")
        start += length
