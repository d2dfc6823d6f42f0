"""Short hand for rule files: `since = Since("0.18.1")`, then one call per rule."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from appliance.migrations.canonical import Plain
from appliance.migrations.operations import KEEP, Keep
from appliance.migrations.release import release
from appliance.migrations.rule import Condition, Match, Nature, Put, Room, Rule, Target


class Since:
    """Writes the rules of one release."""

    def __init__(self, text: str) -> None:
        self.release = release(text)

    def no_effect(
        self,
        code: str,
        target: Target,
        reason: str,
        evidence: str,
        before: str,
        after: str = "",
        match: Match | None = None,
    ) -> Rule:
        """Gone, and nothing is lost by deleting it."""
        return self._rule(code, Nature.NO_EFFECT, target, reason, evidence, before, after, match, puts=())

    def gone(
        self,
        code: str,
        target: Target,
        reason: str,
        evidence: str,
        before: str,
        after: str = "",
        match: Match | None = None,
        advice: str = "",
    ) -> Rule:
        """Gone, and with it something the operator had: deleted, because it would not start, and handed to a person."""
        return self._rule(
            code, Nature.GONE, target, reason, evidence, before, after, match, puts=(), safe=False, advice=advice
        )

    def ask(
        self,
        code: str,
        target: Target,
        reason: str,
        evidence: str,
        before: str,
        match: Match | None = None,
        advice: str = "",
    ) -> Rule:
        """Needs a person; the text stays as it is."""
        return self._rule(
            code, Nature.GONE, target, reason, evidence, before, before, match, puts=None, safe=False, advice=advice
        )

    def renamed(
        self,
        code: str,
        target: Target,
        new: Target,
        reason: str,
        evidence: str,
        before: str,
        after: str,
        values: Mapping[Plain, Plain] | None = None,
        nature: Nature = Nature.RENAMED,
        convert: str | None = None,
        safe: bool = True,
        match: Match | None = None,
        alias: bool = False,
    ) -> Rule:
        put = Put(new, values=values, convert=convert)
        made = self._rule(code, nature, target, reason, evidence, before, after, match, puts=(put,), safe=safe)
        return replace(made, alias=alias)

    def moved(
        self, code: str, target: Target, new: Target, reason: str, evidence: str, before: str, after: str
    ) -> Rule:
        """The same value, at home elsewhere."""
        return self.renamed(code, target, new, reason, evidence, before, after, nature=Nature.MOVED)

    def value(
        self,
        code: str,
        target: Target,
        values: Mapping[Plain, Plain],
        match: Match,
        reason: str,
        evidence: str,
        before: str,
        after: str,
        safe: bool = True,
    ) -> Rule:
        """A value has another name."""
        put = Put(target, values=values)
        return self._rule(code, Nature.VALUE, target, reason, evidence, before, after, match, puts=(put,), safe=safe)

    def puts(
        self,
        code: str,
        target: Target,
        puts: Sequence[Put],
        reason: str,
        evidence: str,
        before: str,
        after: str,
        match: Match | None = None,
        safe: bool = True,
        nature: Nature = Nature.REPLACED,
        advice: str = "",
        touches: tuple[Condition, ...] = (),
    ) -> Rule:
        """Anything else: replaced by these settings."""
        return self._rule(
            code,
            nature,
            target,
            reason,
            evidence,
            before,
            after,
            match,
            puts=tuple(puts),
            safe=safe,
            touches=touches,
            advice=advice,
        )

    def default(
        self, code: str, target: Target, reason: str, evidence: str, *touches: Condition, before: str = ""
    ) -> Rule:
        """Another default, told to deployments that leave the target out and meet the conditions."""
        return self._rule(code, Nature.DEFAULT, target, reason, evidence, before, before, None, touches=touches)

    def meaning(
        self,
        code: str,
        target: Target,
        reason: str,
        evidence: str,
        *touches: Condition,
        before: str = "",
        match: Match | None = None,
        nature: Nature = Nature.MEANING,
    ) -> Rule:
        """The same text does something else, told to deployments that set the target or, for rooms outside, to all."""
        return self._rule(code, nature, target, reason, evidence, before, before, match, touches=touches)

    def clients(
        self,
        code: str,
        nature: Nature,
        room: Room,
        name: str,
        reason: str,
        evidence: str,
        *touches: Condition,
        before: str = "",
    ) -> Rule:
        """Requests, streams, metrics and platforms: nothing to edit here, but somebody else has to know."""
        return self._rule(code, nature, Target(room, name), reason, evidence, before, before, None, touches=touches)

    def _rule(
        self,
        code: str,
        nature: Nature,
        target: Target,
        reason: str,
        evidence: str,
        before: str,
        after: str,
        match: Match | None,
        puts: tuple[Put, ...] | None = None,
        safe: bool = True,
        touches: tuple[Condition, ...] = (),
        advice: str = "",
    ) -> Rule:
        return Rule(
            code,
            self.release,
            nature,
            target,
            reason,
            evidence,
            match=match,
            puts=puts,
            safe=safe,
            touches=touches,
            before=before,
            after=after,
            advice=advice,
        )


def put(target: Target, value: Plain | Keep = KEEP) -> Put:
    return Put(target, value)
