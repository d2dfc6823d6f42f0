"""Which release a text was written for, where nothing in it says so: the options themselves tell."""

from collections.abc import Iterable

from appliance.migrations.canonical import Kind, OptionSite
from appliance.migrations.catalogue import Catalogue, Entry, catalogue
from appliance.migrations.release import Release


def infer_release(sites: Iterable[OptionSite]) -> Release | None:
    """The newest release that knows all of the options, or as many as any does; None when they tell nothing."""
    book = catalogue()
    entries = [entry for site in sites if (entry := _entry(book, site))]
    newest = len(book.releases) - 1
    if all(entry.exists(newest) for entry in entries):
        return None
    known = [sum(entry.exists(index) for entry in entries) for index in range(len(book.releases))]
    return book.releases[max(range(len(known)), key=lambda index: (known[index], index))]


def _entry(book: Catalogue, site: OptionSite) -> Entry | None:
    return (book.env if site.kind is Kind.ENV else book.options).get(site.name)
