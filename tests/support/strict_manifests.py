"""Strict models of what is rendered and has no schema in a library: exactly the fields used, with their forms."""

from typing import Annotated, Any, Literal

import kubernetes_validate
from pydantic import BaseModel, ConfigDict, Field

Label = Annotated[str, Field(pattern=r"^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$")]
Seconds = Annotated[str, Field(pattern=r"^[0-9]+s$")]
Labels = dict[str, Annotated[str, Field(pattern=r"^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$")]]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Metadata(Strict):
    name: Label
    namespace: Label | None = None
    labels: Labels


class Selector(Strict):
    matchLabels: Labels  # noqa: N815


class SecretKey(Strict):
    name: Label
    key: str


class Authorization(Strict):
    type: Literal["Bearer"]
    credentials: SecretKey


class MonitorEndpoint(Strict):
    port: Literal["http"]
    path: Literal["/metrics"]
    interval: Seconds
    authorization: Authorization | None = None


class MonitorSpec(Strict):
    selector: Selector
    endpoints: list[MonitorEndpoint]


class ServiceMonitor(Strict):
    apiVersion: Literal["monitoring.coreos.com/v1"]  # noqa: N815
    kind: Literal["ServiceMonitor"]
    metadata: Metadata
    spec: MonitorSpec


class Group(Strict):
    size: Annotated[int, Field(ge=2)]
    restartPolicy: Literal["RecreateGroupOnPodRestart"]  # noqa: N815
    leaderTemplate: dict[str, Any]  # noqa: N815
    workerTemplate: dict[str, Any]  # noqa: N815


class GroupSetSpec(Strict):
    replicas: Annotated[int, Field(ge=1)]
    startupPolicy: Literal["LeaderCreated"]  # noqa: N815
    leaderWorkerTemplate: Group  # noqa: N815


class LeaderWorkerSet(Strict):
    apiVersion: Literal["leaderworkerset.x-k8s.io/v1"]  # noqa: N815
    kind: Literal["LeaderWorkerSet"]
    metadata: Metadata
    spec: GroupSetSpec


CUSTOM: dict[str, type[Strict]] = {"ServiceMonitor": ServiceMonitor, "LeaderWorkerSet": LeaderWorkerSet}
OLDEST = "1.30"


def check_object(tree: dict[str, Any]) -> None:
    """Raises where the object is not one that a cluster takes, old or new; so are pod templates of custom kinds."""
    if tree["kind"] not in CUSTOM:
        for version in (OLDEST, kubernetes_validate.latest_version()):
            kubernetes_validate.validate(tree, version, strict=True)
        return
    found = CUSTOM[tree["kind"]].model_validate(tree)
    if isinstance(found, LeaderWorkerSet):
        for template in (
            found.spec.leaderWorkerTemplate.leaderTemplate,
            found.spec.leaderWorkerTemplate.workerTemplate,
        ):
            spec = {"selector": {"matchLabels": template["metadata"]["labels"]}, "template": template}
            check_object({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": spec})


class Bind(Strict):
    type: Literal["bind", "volume"]
    source: str
    target: Annotated[str, Field(pattern="^/")]
    read_only: bool | None = None


class Healthcheck(Strict):
    test: list[str]
    interval: Seconds
    timeout: Seconds
    retries: int
    start_period: Seconds


class Device(Strict):
    driver: Literal["nvidia"]
    count: Annotated[int, Field(ge=1)]
    capabilities: list[Literal["gpu"]]


class Reservations(Strict):
    devices: list[Device]


class Limits(Strict):
    cpus: Annotated[str, Field(pattern="^[0-9]+$")]
    memory: Annotated[str, Field(pattern="^[0-9]+m$")]


class ServiceResources(Strict):
    limits: Limits | None = None
    reservations: Reservations | None = None


class Deploy(Strict):
    resources: ServiceResources


class ServiceSecret(Strict):
    source: str
    target: Annotated[str, Field(pattern="^/")]


class Service(Strict):
    image: str
    command: list[str]
    user: Annotated[str, Field(pattern="^[1-9][0-9]*:[1-9][0-9]*$")]
    read_only: Literal[True]
    cap_drop: list[Literal["ALL"]]
    security_opt: list[Literal["no-new-privileges:true"]]
    init: Literal[True]
    restart: Literal["unless-stopped"]
    stop_grace_period: Seconds
    ports: list[Annotated[str, Field(pattern=r"^(\[[0-9a-f:]+\]|[0-9a-z.-]+):[0-9]+:[0-9]+$")]]
    environment: list[str]
    volumes: list[Bind]
    tmpfs: list[str]
    healthcheck: Healthcheck
    secrets: list[ServiceSecret] | None = None
    shm_size: int | None = None
    deploy: Deploy | None = None
    devices: list[str] | None = None
    group_add: list[str] | None = None


class SecretFile(Strict):
    file: Annotated[str, Field(pattern="^/")]


class Nothing(Strict):
    pass


class ComposeFile(Strict):
    name: Label
    services: dict[Literal["appliance"], Service]
    volumes: dict[Literal["state", "cache"], Nothing]
    secrets: dict[Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]+$")], SecretFile] | None = None
