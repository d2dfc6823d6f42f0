"""What has to happen to one deployment to move it from one engine release to another. Pure: no files, no printing."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from appliance.diagnostics import Severity
from appliance.migrations.apply import Step, apply_rules
from appliance.migrations.canonical import OptionSite
from appliance.migrations.catalogue import Catalogue, Free, catalogue
from appliance.migrations.change import Change, Part
from appliance.migrations.checks import check_settings
from appliance.migrations.compile import compile_operations
from appliance.migrations.hints import check_hints
from appliance.migrations.matching import fits, holds
from appliance.migrations.operations import Comment, Operation
from appliance.migrations.positional import check_model_word
from appliance.migrations.quirks import check_quirks
from appliance.migrations.release import Release
from appliance.migrations.releases import BY_CODE, RULES
from appliance.migrations.rule import Nature, Room, Rule, Target
from appliance.migrations.security import check_security
from appliance.migrations.settings import Settings, value_of
from appliance.migrations.spellings import check_spellings
from appliance.migrations.values import SECRETS, to_text

# told to deployments that leave the target out
_ABSENT = (Nature.DEFAULT,)
_OUTSIDE = (Room.REQUEST, Room.STREAM, Room.METRIC, Room.PLATFORM)


def plan_changes(
    sites: Sequence[OptionSite],
    from_release: Release | None,
    to_release: Release,
    model: str | None = None,
    comments: bool = True,
    model_word: bool = False,
) -> list[Change]:
    """The findings, in the order of the sites, then those about the deployment as a whole.

    from_release None: nobody knows it. What does not exist at the target is rewritten all the same; what only behaves
    differently is then told from the oldest release on. comments: mark decisions at the spot. model_word: the command
    takes the model as its first word.
    """
    book = catalogue()
    settings = Settings.read(sites)
    before = Settings(settings.leaves)
    steps = apply_rules(_due(from_release, to_release), settings, model)
    told = frozenset((id(step.site), step.rule.target.path) for step in steps if step.stuck or step.rule.puts is None)
    checks = check_settings(book, settings, from_release, to_release, told)
    compiled = compile_operations(sites, settings)
    found = [_told(step, to_release) for step in steps]
    found += checks
    found += check_quirks(sites, compiled.touched)
    found += check_spellings(book, sites, compiled.touched, to_release)
    found += check_model_word(sites, compiled.touched) if model_word else []
    _attach(found, compiled.operations, comments)
    order = {id(site): index for index, site in enumerate(sites)}
    found.sort(key=lambda change: order.get(id(change.site), len(order)))
    found += _behaviour(book, before, settings, from_release, to_release, model)
    found += check_hints(before, settings, model, to_release, compiled.touched, comments)
    return [*found, *check_security(before, to_release)]


def settle(
    sites: Sequence[OptionSite], from_release: Release | None, to_release: Release, model: str | None = None
) -> Settings:
    """What the deployment sets once every rule up to the target has been followed."""
    settings = Settings.read(sites)
    apply_rules(_due(from_release, to_release), settings, model)
    check_settings(catalogue(), settings, from_release, to_release, frozenset())
    return settings


@cache
def _due(start: Release | None, target: Release) -> tuple[Rule, ...]:
    """The rules up to the target; of those the deployment has already lived through, the ones it never followed."""
    book = catalogue()
    reached = _position(book, target)
    due = []
    for rule in RULES:
        if _position(book, rule.since) > reached or _back(book, rule, target):
            continue
        lived = start is not None and _position(book, rule.since) <= _position(book, start)
        if not lived or (start is not None and not rule.behaviour and not _alive(book, rule, start)):
            due.append(rule)
    return tuple(due)


def _position(book: Catalogue, release: Release) -> tuple[int, Release]:
    """Releases in the order of the catalogue's snapshots; older ones in their own order before them."""
    oldest = book.releases[0]
    return (-1, release) if release < oldest else (book.index(release), oldest)


def _back(book: Catalogue, rule: Rule, target: Release) -> bool:
    """Whether the target was taken out by this rule's release and has come back since."""
    return not _exists(book, rule.target, rule.since) and _exists(book, rule.target, target)


def _alive(book: Catalogue, rule: Rule, start: Release) -> bool:
    """Whether the old text still means in `start` what it says; a rule about one value cannot know, so it says no."""
    return rule.match is None and _exists(book, rule.target, start)


def _exists(book: Catalogue, target: Target, release: Release) -> bool:
    index = book.index(release)
    if target.room is Room.ENV:
        variable = book.env.get(target.name)
        return variable is not None and variable.exists(index)
    entry = book.options.get(target.name)
    if entry is None or not entry.exists(index):
        return False
    key = book.key(target.name, target.path, index) if target.path else entry
    return isinstance(key, Free) or (key is not None and key.exists(index))


def _told(step: Step, target: Release) -> Change:
    rule = step.rule
    decision = not rule.safe or rule.puts is None or bool(step.stuck)
    message = f"{_named(step)}{_shown(step)}: {rule.nature} in {rule.since.short}; {rule.reason}"
    if step.stuck:
        message = f"{message} ({step.stuck})"
    return Change(
        Part.DECISION if decision else Part.CHANGED,
        rule.code,
        _severity(rule, target),
        str(rule.target),
        message,
        rule.way_out if step.stuck else rule.advice,
        step.site,
        rule,
    )


def _named(step: Step) -> str:
    """What the rule is about, in the words of the text where an earlier rule has renamed it."""
    target = step.rule.target
    if step.site is None or step.site.name == target.name:
        return str(target)
    return f"{step.site.raw_name or step.site.name} (by now {target})"


def _severity(rule: Rule, target: Release) -> Severity:
    if rule.nature is Nature.NO_EFFECT and rule.target.room is Room.ENV:
        return Severity.NOTE
    if rule.nature is Nature.NO_EFFECT and _exists(catalogue(), rule.target, target):
        return Severity.WARNING
    return Severity.WARNING if rule.target.room is Room.ENV or rule.behaviour else Severity.ERROR


def _shown(step: Step) -> str:
    if step.site is None or step.rule.target.name in SECRETS or not isinstance(step.value, bool | int | float | str):
        return ""
    return f" {to_text(step.value)}" if step.value is not True else ""


def _attach(found: list[Change], operations: dict[int, list[Operation]], comments: bool) -> None:
    """Gives each site's operations to the first finding about it, and a comment where a person has to decide."""
    waiting = dict(operations)
    for position, change in enumerate(found):
        if change.site is None:
            continue
        mine = waiting.pop(id(change.site), [])
        if comments and change.part is Part.DECISION and change.severity is not Severity.NOTE:
            mine = [*mine, Comment(change.site, _remark(change))]
        if mine:
            found[position] = replace(change, operations=(*change.operations, *mine))


def _remark(change: Change) -> str:
    """The name as it stands in the text, then what to do, or what happened where that is all there is to say."""
    site = change.site
    renamed = change.rule is not None and site is not None and site.name != change.rule.target.name
    subject = (site.raw_name or site.name) if site is not None and renamed else change.subject
    fact = change.rule.reason if change.rule else change.message.removeprefix(f"{change.subject}: ")
    return f"{change.code}: {subject}: {change.way_out or fact}"


def _behaviour(
    book: Catalogue,
    before: Settings,
    after: Settings,
    start: Release | None,
    target: Release,
    model: str | None,
) -> Iterable[Change]:
    """Defaults and meanings that moved between the two releases and touch this deployment."""
    reached = _position(book, target)
    begun = _position(book, start) if start else (-1, Release(0, 0))
    named = before.named() | after.named()
    for rule in _moved(begun, reached):
        if rule.target.room in _OUTSIDE and not rule.touches:
            yield _moves(rule.code)
            continue
        absent = (rule.target.room, rule.target.name) not in named
        if absent and rule.nature not in _ABSENT and rule.target.room not in _OUTSIDE:
            continue
        touched, site = _touched(rule, before, after, model)
        if touched:
            yield replace(_moves(rule.code), site=site) if site is not None else _moves(rule.code)


@cache
def _moves(code: str) -> Change:
    """What is said to every deployment that the rule concerns."""
    rule = BY_CODE[code]
    message = f"{rule.target}: {rule.nature} in {rule.since.short}; {rule.reason}"
    return Change(Part.BEHAVIOUR, rule.code, Severity.NOTE, str(rule.target), message, rule.advice, None, rule)


@cache
def _moved(begun: tuple[int, Release], reached: tuple[int, Release]) -> tuple[Rule, ...]:
    """Changes of behaviour after one place in the catalogue and up to another."""
    book = catalogue()
    silent = (rule for rule in RULES if rule.behaviour and rule.puts is None)
    return tuple(rule for rule in silent if begun < _position(book, rule.since) <= reached)


def _touched(rule: Rule, before: Settings, after: Settings, model: str | None) -> tuple[bool, OptionSite | None]:
    """Whether the rule concerns the deployment, and the site it is about where there is one."""
    if not all(holds(condition, before, model) for condition in rule.touches):
        return False, None
    if rule.target.room in _OUTSIDE:
        return True, None
    groups = before.at(rule.target) or after.at(rule.target)
    if rule.nature is Nature.DEFAULT:
        return not groups, None
    depth = len(rule.target.path)
    site = next((site for site, leaves in groups if fits(rule.match, value_of(leaves, depth))), None)
    return site is not None, site
