"""The examples for Argo CD and Flux: exactly these fields, with the forms that their controllers take."""

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from strict_manifests import Label

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
Duration = Annotated[str, Field(pattern=r"^([0-9]+(ms|s|m|h))+$")]
Repository = Annotated[str, Field(pattern=r"^(ssh://)?git@[a-z.]+[:/][a-z/]+\.git$")]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Named(Strict):
    name: Label
    namespace: Label | None = None


class ArgoSource(Strict):
    repoURL: Repository  # noqa: N815
    targetRevision: str  # noqa: N815
    path: str


class Automated(Strict):
    prune: bool
    selfHeal: bool  # noqa: N815


class SyncPolicy(Strict):
    automated: Automated
    syncOptions: list[Annotated[str, Field(pattern=r"^[A-Za-z]+=(true|false)$")]]  # noqa: N815


class ApplicationSpec(Strict):
    project: str
    source: ArgoSource
    destination: Named
    syncPolicy: SyncPolicy  # noqa: N815


class Application(Strict):
    apiVersion: Literal["argoproj.io/v1alpha1"]  # noqa: N815
    kind: Literal["Application"]
    metadata: Named
    spec: ApplicationSpec


class Branch(Strict):
    branch: str


class GitRepositorySpec(Strict):
    interval: Duration
    url: Repository
    ref: Branch
    secretRef: Named  # noqa: N815


class GitRepository(Strict):
    apiVersion: Literal["source.toolkit.fluxcd.io/v1"]  # noqa: N815
    kind: Literal["GitRepository"]
    metadata: Named
    spec: GitRepositorySpec


class Reference(Named):
    kind: Literal["GitRepository"]


class KustomizationSpec(Strict):
    interval: Duration
    timeout: Duration
    prune: bool
    wait: bool
    sourceRef: Reference  # noqa: N815
    path: Annotated[str, Field(pattern=r"^\./")]
    targetNamespace: Label  # noqa: N815


class Kustomization(Strict):
    apiVersion: Literal["kustomize.toolkit.fluxcd.io/v1"]  # noqa: N815
    kind: Literal["Kustomization"]
    metadata: Named
    spec: KustomizationSpec


class ChartSpec(Strict):
    chart: str
    reconcileStrategy: Literal["Revision", "ChartVersion"]  # noqa: N815
    sourceRef: Reference  # noqa: N815


class ChartTemplate(Strict):
    spec: ChartSpec


class ValuesReference(Strict):
    kind: Literal["ConfigMap", "Secret"]
    name: Label
    valuesKey: str  # noqa: N815


class HelmReleaseSpec(Strict):
    interval: Duration
    timeout: Duration
    chart: ChartTemplate
    valuesFrom: list[ValuesReference]  # noqa: N815


class HelmRelease(Strict):
    apiVersion: Literal["helm.toolkit.fluxcd.io/v2"]  # noqa: N815
    kind: Literal["HelmRelease"]
    metadata: Named
    spec: HelmReleaseSpec


KINDS: dict[str, type[Strict]] = {
    kind.__name__: kind for kind in (Application, GitRepository, Kustomization, HelmRelease)
}
FILES = sorted(path for folder in ("argocd", "flux") for path in (DEPLOY / folder).glob("*.yaml"))


def check(tree: dict[str, Any]) -> Strict:
    return KINDS[tree["kind"]].model_validate(tree)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_examples_are_what_their_controllers_take(file: Path) -> None:
    for tree in yaml.safe_load_all(file.read_text()):
        check(tree)
    assert len(FILES) == 3


def test_sources_that_are_referred_to_are_there() -> None:
    trees = [tree for file in FILES for tree in yaml.safe_load_all(file.read_text())]
    repositories = {tree["metadata"]["name"] for tree in trees if tree["kind"] == "GitRepository"}
    for tree in trees:
        spec = tree["spec"]
        used = spec.get("sourceRef") or spec.get("chart", {}).get("spec", {}).get("sourceRef")
        assert used is None or used["name"] in repositories
    (release,) = [check(tree) for tree in trees if tree["kind"] == "HelmRelease"]
    assert isinstance(release, HelmRelease)
    assert (DEPLOY.parent / release.spec.chart.spec.chart / "Chart.yaml").is_file()


def test_a_misspelt_field_would_be_seen() -> None:
    tree = yaml.safe_load((DEPLOY / "argocd/application.yaml").read_text())
    tree["spec"]["syncpolicy"] = tree["spec"].pop("syncPolicy")
    with pytest.raises(ValidationError):
        check(tree)
