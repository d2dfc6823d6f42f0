"""From settings before and after the rules to operations on sites: as few as possible, each as small as possible."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from appliance.migrations.canonical import UNKNOWN, Form, Kind, OptionSite, Path, Plain
from appliance.migrations.operations import KEEP, Add, Insert, Keep, NewValue, Operation, Raw, Remove, Rewrite
from appliance.migrations.rule import Room
from appliance.migrations.settings import Leaf, Settings, leaves_of, nest

Place = tuple[Room, str]
_KINDS = {Room.OPTION: Kind.OPTION, Room.ENV: Kind.ENV}


@dataclass
class _Home:
    """Where leaves that arrive at an option are written."""

    site: OptionSite | None
    inside: bool
    leaves: list[Leaf] = field(default_factory=list)

    @cached_property
    def senders(self) -> frozenset[int]:
        """Ids of the sites that leaves arrive from; asked for when all have arrived."""
        return frozenset(id(leaf.site) for leaf in self.leaves)

    @cached_property
    def together(self) -> bool:
        """Whether everything that arrives is written as one JSON value of the host."""
        unknown = any(leaf.value is UNKNOWN or isinstance(leaf.value, Raw) for leaf in self.leaves)
        return len(self.leaves) > 1 and not unknown and not self.repeated

    @cached_property
    def repeated(self) -> bool:
        """Whether several sites set the same thing, as branches of a script do: each keeps its own."""
        return len({leaf.path for leaf in self.leaves}) < len(self.leaves)


@dataclass(frozen=True)
class Compiled:
    """operations: id of a site -> what to do because of it; sites that meet in one option share the list of the first.

    touched: ids of all sites that are rewritten or removed.
    """

    operations: dict[int, list[Operation]]
    touched: frozenset[int]


def compile_operations(sites: Sequence[OptionSite], settings: Settings) -> Compiled:
    by_site: dict[int, list[Leaf]] = {id(site): [] for site in sites}
    for leaf in settings.leaves:
        by_site[id(leaf.site)].append(leaf)
    staying = {id(site): _staying(site, by_site[id(site)]) for site in sites}
    homes = _homes(sites, by_site, staying)
    found: dict[int, list[Operation]] = {}
    for site in sites:
        operations = [*_inner(site, staying[id(site)]), *_outgoing(site, by_site[id(site)], homes, staying)]
        if operations:
            found[id(site)] = operations
    touched = frozenset(found)
    for home in homes.values():
        _share(found, list(dict.fromkeys(id(leaf.site) for leaf in home.leaves)))
    return Compiled(found, touched)


def _share(found: dict[int, list[Operation]], meeting: list[int]) -> None:
    """Sites that meet in one option stand or fall together: carrying out one half would lose a setting."""
    together = [identity for identity in meeting if identity in found]
    for other in together[1:]:
        found[together[0]] += found.pop(other)


def _place(site: OptionSite) -> Place:
    return (Room.ENV if site.kind is Kind.ENV else Room.OPTION, site.name)


def _staying(site: OptionSite, leaves: Iterable[Leaf]) -> list[Leaf]:
    """The leaves still at home in the site's own option, at or below its own path."""
    depth = len(site.path)
    return [leaf for leaf in leaves if (leaf.room, leaf.name) == _place(site) and leaf.path[:depth] == site.path]


def _inner(site: OptionSite, staying: list[Leaf]) -> list[Operation]:
    """What changes inside the value of a site that keeps its name."""
    if not staying:
        return []
    depth = len(site.path)
    before = {leaf.origin: leaf for leaf in leaves_of(site) if leaf.origin is not None}
    if list(before) == [()]:
        leaf = staying[0]
        if leaf.origin == () and leaf.path == site.path:
            return [Rewrite(site, value=_plain(leaf))] if leaf.changed else []
        return [Rewrite(site, value=_nested(staying, depth))]
    operations: list[Operation] = []
    kept: set[Path] = set()
    renames: dict[Path, str] = {}
    for leaf in staying:
        inside = leaf.path[depth:]
        if leaf.origin is None or not _renamable(leaf.origin, inside, renames):
            operations.append(Insert(site, inside, _plain(leaf)))
            continue
        kept.add(leaf.origin)
        if leaf.changed:
            operations.append(Rewrite(site, value=_plain(leaf), path=leaf.origin))
    changed = {operation.path: operation for operation in operations if isinstance(operation, Rewrite)}
    steps: list[Operation] = [
        Rewrite(site, name, changed[path].value if path in changed else KEEP, path)
        for path, name in sorted(renames.items(), key=lambda item: -len(item[0]))
        if name != path[-1]
    ]
    named = {path for path, name in renames.items() if name != path[-1]}
    steps = [operation for path, operation in changed.items() if path not in named] + steps
    gone: list[Operation] = [Remove(site, path) for path in _emptied(set(before), kept)]
    return gone + steps + [operation for operation in operations if isinstance(operation, Insert)]


def _renamable(origin: Path, inside: Path, renames: dict[Path, str]) -> bool:
    """Whether the key can stay where it is under new names; notes the names, which all keys below a parent share."""
    if len(origin) != len(inside):
        return False
    steps = {origin[: i + 1]: inside[i] for i in range(len(origin))}
    if any(renames.get(path, name) != name for path, name in steps.items()):
        return False
    renames |= steps
    return True


def _emptied(before: set[Path], kept: set[Path]) -> list[Path]:
    """The shortest paths below which nothing is left."""
    found: dict[Path, None] = {}
    left = {path[:length] for path in kept for length in range(1, len(path) + 1)}
    for path in sorted(before - kept):
        for length in range(1, len(path) + 1):
            if path[:length] not in left:
                found[path[:length]] = None
                break
    return list(found)


def _homes(
    sites: Sequence[OptionSite], by_site: dict[int, list[Leaf]], staying: dict[int, list[Leaf]]
) -> dict[Place, _Home]:
    """For every option or variable that leaves arrive at, the site that takes them in, if one can."""
    homes: dict[Place, _Home] = {}
    vacated = [site for site in sites if not staying[id(site)]]
    for site in sites:
        stays = {id(leaf) for leaf in staying[id(site)]}
        for leaf in by_site[id(site)]:
            if id(leaf) in stays:
                continue
            place = (leaf.room, leaf.name)
            if place not in homes:
                existing = next((s for s in sites if _place(s) == place and _takes_keys(s) and staying[id(s)]), None)
                homes[place] = _Home(existing, existing is not None)
            homes[place].leaves.append(leaf)
    hosts = {sender for home in homes.values() if home.repeated for sender in home.senders}
    for place, home in homes.items():
        if home.inside or home.repeated:
            continue
        for site in vacated:
            if id(site) in home.senders and id(site) not in hosts and (_place(site)[0] is place[0]):
                home.site = site
                hosts.add(id(site))
                break
    return homes


def _takes_keys(site: OptionSite) -> bool:
    return not site.path and isinstance(site.value, dict) and site.kind is Kind.OPTION


def _outgoing(
    site: OptionSite, leaves: list[Leaf], homes: dict[Place, _Home], staying: dict[int, list[Leaf]]
) -> list[Operation]:
    """What becomes of the leaves that leave the site, and of the site when nothing of it is left."""
    stays = {id(leaf) for leaf in staying[id(site)]}
    leaving = [leaf for leaf in leaves if id(leaf) not in stays]
    operations: list[Operation] = []
    hosting = False
    for place in dict.fromkeys((leaf.room, leaf.name) for leaf in leaving):
        home = homes[place]
        mine = [leaf for leaf in leaving if (leaf.room, leaf.name) == place]
        if home.repeated and not hosting and not staying[id(site)] and _place(site)[0] is place[0]:
            hosting = True
            operations += _apart(site, place, mine)
        elif home.inside and home.site is not None:
            # an empty mapping has no leaf with a path, and adds nothing to one that is there
            operations += [Insert(home.site, leaf.path, _plain(leaf)) for leaf in mine if leaf.path]
        elif home.site is site:
            hosting = True
            operations += _host(site, place, home)
        elif home.site is None or not home.together:
            operations += [_add(site, leaf) for leaf in mine]
    if not hosting and not staying[id(site)]:
        operations.insert(0, Remove(site))
    return operations


def _host(site: OptionSite, place: Place, home: _Home) -> list[Operation]:
    """The site becomes the new option: in place, with its value untouched where the value does not change."""
    name = place[1]
    mine = [leaf for leaf in home.leaves if leaf.site is site]
    if _same_inside(site, home):
        if len(mine) == 1 and not isinstance(site.value, dict):
            leaf = mine[0]
            return [Rewrite(site, name, _plain(leaf) if leaf.changed else KEEP, name_path=leaf.path)]
        moved = [_as_inner(leaf, site) for leaf in mine]
        return [Rewrite(site, name), *_inner(site, moved)]
    if home.together:
        return [Rewrite(site, name, nest((leaf.path, leaf.value) for leaf in home.leaves))]
    return _apart(site, place, mine)


def _apart(site: OptionSite, place: Place, mine: list[Leaf]) -> list[Operation]:
    """The site becomes the first of its own leaves; the others follow it."""
    first, *others = mine
    value: NewValue | Keep = KEEP if first.origin == () and not first.changed else _plain(first)
    return [Rewrite(site, place[1], value, name_path=first.path), *(_add(site, leaf) for leaf in others)]


def _same_inside(site: OptionSite, home: _Home) -> bool:
    """Only this site's own leaves arrive, and a mapping keeps its keys where they were."""
    if any(leaf.site is not site for leaf in home.leaves):
        return False
    if not isinstance(site.value, dict):
        return len(home.leaves) == 1 and home.leaves[0].origin == ()
    if site.path or site.form is Form.ENV:
        return False
    return any(leaf.origin == leaf.path for leaf in home.leaves)


def _as_inner(leaf: Leaf, site: OptionSite) -> Leaf:
    return Leaf(leaf.room, site.name, leaf.path, leaf.value, site, leaf.origin, leaf.changed)


def _add(site: OptionSite, leaf: Leaf) -> Add:
    beside = site if leaf.room is _place(site)[0] else None
    return Add(leaf.name, _plain(leaf), leaf.path, _KINDS[leaf.room], beside, site)


def _nested(leaves: list[Leaf], depth: int) -> Plain:
    value: Plain = nest((leaf.path[depth:], leaf.value) for leaf in leaves)
    return value


def _plain(leaf: Leaf) -> NewValue:
    """The value to write; one that cannot be known is copied as it is written."""
    if leaf.value is UNKNOWN:
        return Raw(leaf.site.raw_value or "")
    return leaf.value
