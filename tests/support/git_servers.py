"""Git over https and over ssh, each a real server of a real repository on a port of 127.0.0.1."""

import asyncio
import base64
import datetime
import ipaddress
import ssl
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIServer, make_server

import asyncssh
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from dulwich.repo import Repo
from dulwich.server import DictBackend
from dulwich.web import WSGIRequestHandlerLogger, WSGIServerLogger, make_wsgi_chain


def certificate(folder: Path) -> tuple[Path, Path]:
    """(certificate, key) for 127.0.0.1, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    host = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(host, False)
        .add_extension(x509.BasicConstraints(True, None), True)
        .sign(key, hashes.SHA256())
    )
    cert, private = folder / "server.crt", folder / "server.key"
    cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return cert, private


@contextmanager
def https(path: Path, user: str, token: str, cert: tuple[Path, Path]) -> Iterator[str]:
    """Address of the repository, which `token` opens."""
    git = make_wsgi_chain(DictBackend({"/x.git": Repo(str(path))}))
    wanted = "Basic " + base64.b64encode(f"{user}:{token}".encode()).decode()

    def guarded(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if environ.get("HTTP_AUTHORIZATION") != wanted:
            start("401 Unauthorized", [("WWW-Authenticate", 'Basic realm="git"'), ("Content-Length", "0")])
            return [b""]
        return git(environ, start)  # type: ignore[no-any-return,arg-type]

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*cert)
    server: WSGIServer = make_server(
        "127.0.0.1", 0, guarded, server_class=WSGIServerLogger, handler_class=WSGIRequestHandlerLogger
    )
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}/x.git"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@asynccontextmanager
async def ssh(host_key: asyncssh.SSHKey, client_key: asyncssh.SSHKey) -> AsyncIterator[int]:
    """Port of a server that runs upload-pack for who holds `client_key`."""

    async def serve(process: asyncssh.SSHServerProcess[bytes]) -> None:
        program, _, argument = (process.command or "").partition(" ")
        if program != "git-upload-pack":
            process.exit(1)
            return
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "dulwich", "upload-pack", argument.strip("'")),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        asked = asyncio.create_task(_pump(process.stdin, child.stdin))
        await _pump(child.stdout, process.stdout)
        asked.cancel()
        await asyncio.wait([asked])
        process.exit(await child.wait())

    keys = asyncssh.import_authorized_keys(client_key.export_public_key().decode())
    server = await asyncssh.listen(
        "127.0.0.1", 0, server_host_keys=[host_key], authorized_client_keys=keys, process_factory=serve, encoding=None
    )
    async with server:
        yield server.get_port()


async def _pump(source: Any, sink: Any) -> None:
    while data := await source.read(1 << 16):
        sink.write(data)
        await sink.drain()
