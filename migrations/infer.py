"""Which release a text was written for, where nothing in it says so: the options themselves tell."""

from collections import Counter
from collections.abc import Iterable

from appliance.migrations.canonical import Kind, OptionSite
from appliance.migrations.catalogue import Catalogue, Entry, catalogue
from appliance.migrations.release import Release


def infer_release(sites: Iterable[OptionSite], target: Release) -> Release | None:
    """The newest release that knows all of the options, or as many as any does, up to `target` where one of those does;
    None when they tell nothing."""
    book = catalogue()
    counted = Counter((site.kind, site.name) for site in sites)
    entries = [(entry, count) for (kind, name), count in counted.items() if (entry := _entry(book, kind, name))]
    newest = len(book.releases) - 1
    if all(entry.exists(newest) for entry, _ in entries):
        return None
    known = [sum(count for entry, count in entries if entry.exists(index)) for index in range(len(book.releases))]
    best = [book.releases[index] for index, count in enumerate(known) if count == max(known)]
    return max((one for one in best if one <= target), default=best[-1])


def earliest_release(sites: Iterable[OptionSite]) -> tuple[Release, str] | None:
    """The release that brought the newest of the options, and its name; None when all are older than the catalogue."""
    book = catalogue()
    named = {(site.kind, site.name) for site in sites}
    begun = [(entry.intervals[0][0], name) for kind, name in named if (entry := _entry(book, kind, name))]
    index, name = max(begun, default=(0, ""))
    return (book.releases[index], name) if index else None


def _entry(book: Catalogue, kind: Kind, name: str) -> Entry | None:
    return (book.env if kind is Kind.ENV else book.options).get(name)
