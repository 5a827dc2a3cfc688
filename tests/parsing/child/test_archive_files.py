import base64
import bz2
import gzip
import io
import lzma
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

from harness.parsing.child.archive_files import run

MIB = 1 << 20
CAP = 256 << 10


def asked(data: bytes, form: str) -> dict[str, Any]:
    return run(
        {
            "data": base64.b64encode(data).decode(),
            "format": form,
            "endings": {".py": CAP},
            "hidden": ["__pycache__"],
            "files": 21,
        }
    )


def tar_header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


def gzip_bomb(size: int, *, name: str) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(tar_header(name, size))]
    zeros = bytes(MIB)
    parts += [packer.compress(zeros) for _ in range(size // MIB)]
    return b"".join([*parts, packer.flush()])


def repeated_bomb(compress: Callable[[bytes], bytes], size: int) -> bytes:
    """Concatenate compressed streams, which unpack one after the other."""
    return compress(tar_header("a.py", size)) + compress(bytes(8 * MIB)) * (size // (8 * MIB))


def lying_zip(size: int) -> bytes:
    """A zip whose entry says that it has 100 bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.py", bytes(size))
    honest = size.to_bytes(4, "little")
    return packed.getvalue().replace(honest, (100).to_bytes(4, "little"))


def in_little_memory(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    tracemalloc.start()
    found = work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32 * MIB
    return found


def test_a_bomb_in_gzip_is_refused() -> None:
    data = gzip_bomb(256 * MIB, name="data.bin")
    found = in_little_memory(lambda: asked(data, "gz"))
    assert found == {"refused": "unpacks to more than 200 times its size"}


def test_a_bomb_of_10_gb_in_bzip2_is_refused() -> None:
    data = repeated_bomb(bz2.compress, 10 << 30)
    found = in_little_memory(lambda: asked(data, "bz2"))
    assert found == {"refused": "unpacks to more than 200 times its size"}


def test_a_bomb_of_10_gb_in_xz_is_refused() -> None:
    data = repeated_bomb(lzma.compress, 10 << 30)
    found = in_little_memory(lambda: asked(data, "xz"))
    assert found["refused"].startswith("unpacks to more than")


def test_a_member_that_shrinks_little_is_refused_when_it_is_too_long() -> None:
    packer = zlib.compressobj(0, wbits=31)
    data = packer.compress(tar_header("data.bin", 80 * MIB))
    data += b"".join(packer.compress(bytes(MIB)) for _ in range(80)) + packer.flush()
    assert asked(data, "gz") == {"refused": "unpacks to more than 64 MiB"}


def test_a_bomb_in_a_zip_is_read_no_further_than_its_cap() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("a.py", "w", force_zip64=True) as file:
            for _ in range(256):
                file.write(bytes(MIB))
        archive.writestr("data.bin", bytes(64 * MIB))
    found = in_little_memory(lambda: asked(packed.getvalue(), "zip"))
    assert [entry["data"] and len(base64.b64decode(entry["data"])) for entry in found["entries"]] \
        == [CAP + 1, None]  # fmt: skip


def test_a_zip_that_lies_about_its_sizes_is_refused() -> None:
    data = lying_zip(100 * MIB)
    found = in_little_memory(lambda: asked(data, "zip"))
    assert found == {"refused": "is not a readable archive (BadZipFile)"}


def test_archives_within_archives_are_not_opened() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inner.zip", packed.getvalue())
        archive.writestr("inner.gz", gzip.compress(b"x"))
    assert [entry["data"] for entry in asked(packed.getvalue(), "zip")["entries"]] == [None, None]


def test_a_name_that_is_not_utf8_is_refused() -> None:
    info = tarfile.TarInfo("\udcff.py")
    data = info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape") + bytes(1024)
    assert asked(data, "tar") == {"refused": "has a file name that is not UTF-8"}


def test_many_tar_members_end_the_work() -> None:
    data = tar_header("a.txt", 0) * 10_001
    assert asked(data, "tar") == {"refused": "has more than 10,000 entries"}


def test_what_is_wanted_is_read_and_nothing_else() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("./a.PY", "b.txt", ".c.py", "__pycache__/d.py", "e/"):
            archive.writestr(name, b"x")
    entries = asked(packed.getvalue(), "zip")["entries"]
    assert [entry["name"] for entry in entries if entry["data"] is not None] == ["./a.PY"]
    assert entries[-1]["kind"] == "folder"
