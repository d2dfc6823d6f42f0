"""What an edit would mean for the appliance that runs, field by field: which kind of reload, and why that one."""

from appliance.plan import Plan, diff_plans
from appliance.plan.diff import Change
from appliance.supervise.backends import EngineChange, engine_change
from appliance.supervise.status import FieldChange

SETTINGS = {"max_tokens": "max_batch_tokens", "dtype": "kv_dtype", "size": "num_blocks", "source": "model_path"}
"""Setting of an engine process, by the last word of the field that it comes from where the two differ."""
WHY = {
    "live": "servers take it between two requests; those in flight keep what they began with",
    "reconfigure": "the running engine takes it between two steps; weights and prefix cache stay",
    "engine": "only a new engine process can have it",
    "listener": "the appliance listens on another socket",
}


def field_changes(before: Plan, after: Plan) -> tuple[FieldChange, ...]:
    """In the profile's order; empty where the effective plans are equal."""
    engine = engine_change(before, after)
    return tuple(_field_change(change, engine) for change in diff_plans(before, after))


def _field_change(change: Change, engine: EngineChange) -> FieldChange:
    reload, why = change.reload, ""
    if reload in ("engine", "reconfigure"):
        reload, why = _of_engine(change, engine)
    return FieldChange(
        path=change.path, before=change.before, after=change.after, reload=reload, why=why or WHY.get(reload, "")
    )


def _of_engine(change: Change, engine: EngineChange) -> tuple[str, str]:
    last = change.path.split(".")[-1].split()[-1]
    setting = SETTINGS.get(last, last)
    if setting in engine.settings:
        return "reconfigure", ""
    if engine.replace:
        told = next((said for said in engine.replace if said.startswith(f"{setting}:")), "; ".join(engine.replace))
        return "engine", f"only a new engine process can have it: {told}"
    return "live", "no setting of the engine process follows from it"
