"""Certificates for tests, from an authority that nobody else trusts."""

from pathlib import Path
from typing import NamedTuple

import trustme


class Files(NamedTuple):
    """Where things are, in PEM."""

    ca: Path
    cert: Path
    key: Path


def certificates(folder: Path, *names: str) -> Files:
    """Write an authority and a certificate of its for hosts."""
    folder.mkdir(exist_ok=True)
    authority = trustme.CA()
    issued = authority.issue_cert(*(names or ("localhost", "127.0.0.1")))
    files = Files(folder / "ca.pem", folder / "cert.pem", folder / "key.pem")
    authority.cert_pem.write_to_path(files.ca)
    files.cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    issued.private_key_pem.write_to_path(files.key)
    return files
