"""TLS for whoever listens and whoever calls: contexts from files, and errors that say what is wrong with them."""

import ssl
from pathlib import Path
from typing import Final

#: How an address begins that is to be called over TLS.
SCHEME: Final = "tamis+tls://"
#: Who calls gets so many seconds to agree on a key.
HANDSHAKE: Final = 10.0


def is_tls(address: str) -> bool:
    """Say whether an address is to be called over TLS."""
    return address.startswith(SCHEME)


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return the context of one who listens; files that do not fit are a `ValueError` that names them."""
    for file in (certificate, key):
        _check_readable(file)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    load(context, certificate, key)
    return context


def load(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    """Let a context show a certificate to all who call from now on."""

    def no_password() -> bytes:
        # Without this, OpenSSL would ask on the terminal.
        raise ValueError(f"{key} has a password; a broker has nobody to ask for it")

    try:
        context.load_cert_chain(certificate, key, password=no_password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise ValueError(f"{key} is not the key of the certificate in {certificate}") from None
        raise ValueError(f"{certificate} and {key} are not a certificate and its key in PEM") from None
    except OSError as error:
        raise ValueError(f"{error.filename or certificate}: {error.strerror}") from None


def client_context(authorities: Path | str | None = None) -> ssl.SSLContext:
    """Return the context of one who calls: it trusts the authorities in a file, or those of the machine without one."""
    if authorities is None:
        return ssl.create_default_context()
    _check_readable(Path(authorities))
    try:
        return ssl.create_default_context(cafile=authorities)
    except ssl.SSLError:
        raise ValueError(f"{authorities} holds no certificates in PEM") from None


def explained(error: BaseException, over_tls: bool) -> str:
    """Return in words why nobody could be reached."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"it does not speak TLS as it should ({(error.reason or 'unknown').lower().replace('_', ' ')})"
    if isinstance(error, ConnectionError) and not over_tls and not isinstance(error, ConnectionRefusedError):
        return f"{error} (if it speaks TLS, its address begins with {SCHEME})"
    return str(error) or "no answer in time"


def _check_readable(file: Path) -> None:
    try:
        file.open("rb").close()
    except OSError as error:
        raise ValueError(f"{file}: {error.strerror}") from None
