"""Section `parallelism`: over how many devices, processes and machines the work is spread."""

from .setting import Section, section, setting


class Expert(Section):
    enabled: bool = setting(
        False,
        description="Spread the experts of a mixture-of-experts model over the devices.",
        reload="engine",
        option="enable-expert-parallel",
    )
    elastic: bool = setting(
        False,
        description="Allow the number of expert-parallel workers to change while serving.",
        reload="engine",
        option="enable-elastic-ep",
    )


class Parallelism(Section):
    tensor: int = setting(
        1,
        description="Devices that share each layer of the model; must divide its attention heads.",
        unit="devices",
        reload="engine",
        option="tensor-parallel-size",
        ge=1,
    )
    pipeline: int = setting(
        1,
        description="Groups of devices that each hold a run of consecutive layers.",
        unit="stages",
        reload="engine",
        option="pipeline-parallel-size",
        ge=1,
    )
    data: int = setting(
        1,
        description="Independent copies of the engine that share the requests.",
        unit="replicas",
        reload="engine",
        option="data-parallel-size",
        ge=1,
    )
    nodes: int = setting(
        1, description="Machines that run one engine together.", unit="machines", reload="engine", option="nnodes", ge=1
    )
    api_servers: int = setting(
        1,
        description="HTTP server processes in front of the engine.",
        unit="processes",
        reload="listener",
        option="api-server-count",
        ge=1,
        le=64,
    )
    expert: Expert = section(Expert, description="Expert parallelism of mixture-of-experts models.")
