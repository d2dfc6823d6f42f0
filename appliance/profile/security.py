"""Section `security`: who may reach the server, and what it may reach. Secrets are named here, never written."""

from typing import Annotated, Literal

from pydantic import Field

from .secret import VARIABLE, Secret
from .setting import Section, section, setting
from .types import Bind, FilePath


class ApiKey(Secret):
    """A key that requests may show."""

    env: str | None = setting(
        None,
        description="Environment variable that holds the key.",
        reload="live",
        pattern=VARIABLE,
        form="the name of an environment variable",
    )
    file: FilePath | None = setting(None, description="File whose first line is the key.", reload="live")


class Cors(Section):
    origins: tuple[str, ...] = setting(
        (),
        description="Web origins whose pages may call the server from a browser; empty: none.",
        reload="live",
        option="allowed-origins",
    )
    credentials: bool = setting(
        False,
        description="Let those pages send cookies and authorisation headers.",
        reload="live",
        option="allow-credentials",
    )


class Media(Section):
    formats: Literal["raster"] = setting(
        "raster",
        description="Image formats that are decoded: plain raster formats only.",
        reload="live",
        since="0.32",
    )
    domains: tuple[str, ...] = setting(
        (),
        description="Hosts from which media of requests may be fetched; empty: any public one.",
        reload="live",
        option="allowed-media-domains",
    )
    local_path: FilePath | None = setting(
        None,
        description="Folder from which requests may name files; null: none.",
        reload="live",
        option="allowed-local-media-path",
    )
    max_pixels: int = setting(
        178_956_970, description="Largest image that is decoded.", unit="pixels", reload="live", ge=1
    )


class TLS(Section):
    cert: FilePath = setting(
        description="PEM file with the certificate chain.", reload="listener", option="ssl-certfile"
    )
    key: FilePath = setting(description="PEM file with the private key.", reload="listener", option="ssl-keyfile")


class Security(Section):
    bind: Bind = setting(
        "127.0.0.1:8000", description="Address and port the server listens on.", reload="listener", option="host"
    )
    api_keys: tuple[ApiKey, ...] = setting(
        (),
        description="Keys of which a request must show one, each as {env: NAME} or {file: PATH}; empty: no key needed.",
        reload="live",
        option="api-key",
    )
    metrics_open: bool = setting(
        False, description="Let /metrics be read without a key where api_keys are set.", reload="live"
    )
    cors: Cors = section(Cors, description="Calls from web pages.")
    media: Media = section(Media, description="Images and other media in requests.")
    tls: Annotated[TLS, Field(description="Encryption by the server itself.")] | None = setting(
        None, description="Encryption by the server itself; null: plain HTTP.", reload="listener"
    )
