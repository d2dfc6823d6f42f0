"""Names of LoRA adapters: requests tell adapters and model apart by them."""

from collections.abc import Iterator

from ...diagnostics import Diagnostic
from ...profile.quoting import short
from ..facts import Facts


def names(facts: Facts) -> Iterator[Diagnostic]:
    model = facts.profile.model
    served = set(model.served_names or (facts.profile.name,))
    seen: set[str] = set()
    for index, adapter in enumerate(model.adapters):
        path, name = f"model.adapters[{index}].name", adapter.name
        if name != name.strip() or not name.isprintable():
            fix = "write a name without blanks around it"
            yield facts.error("AP0204", path, f"{short(name)} cannot be asked for", fix)
        elif name in served:
            yield facts.error("AP0204", path, f"{short(name)} is the model's own name", "choose another name")
        elif name in seen:
            yield facts.error("AP0204", path, f"{short(name)} stands twice", "remove one")
        seen.add(name)
