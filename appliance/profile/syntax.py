"""The YAML parser's complaints in words that say what to do about them."""

from typing import Any

import yaml

from ..diagnostics import Diagnostic, Position, Severity

INDENT = "indent keys of one mapping by the same number of spaces"
QUOTE = "put the value in quotes"

# part of the parser's problem -> (fact, way out)
PROBLEMS: dict[str, tuple[str, str]] = {
    "mapping values are not allowed": ("a key at another indentation than its neighbours", INDENT),
    "could not find expected ':'": ('this line has no ": " after its key', "write key: value"),
    "did not find expected ',' or ']'": ("a list opened with [ is not closed", "close it with ]"),
    "did not find expected ',' or '}'": ("a mapping opened with { is not closed", "close it with }"),
    "unexpected end of stream": ("a quote is opened and not closed", "close it"),
    "unexpected document indicator": ("a quote is opened and not closed", "close it"),
    "did not find expected key": ("this line fits no mapping above it", INDENT),
    "did not find expected '-' indicator": ("this line fits no list above it", "indent its items alike, each with -"),
    "block sequence entries are not allowed": ("a list item cannot stand here", "begin it on a line of its own"),
    "block mapping keys": ("a key cannot stand here", INDENT),
    "unknown escape character": ("a backslash in double quotes begins an unknown escape", "use single quotes"),
    "did not find expected <document start>": ("text follows the end of the document", INDENT),
    "did not find expected node content": ("a value is missing here", "write it, or take the comma or bracket away"),
    "did not find expected alphabetic": ("a lone & or * is an anchor without a name", QUOTE),
    "invalid leading UTF-8": ("bytes that are not UTF-8", "save the file as UTF-8"),
}
OPENED = ("quoted scalar", "flow sequence", "flow mapping")


def explain(file: str, text: str, error: yaml.YAMLError) -> Diagnostic:
    problem = str(getattr(error, "problem", None) or error)
    context = str(getattr(error, "context", None) or "")
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if any(word in context for word in OPENED) and getattr(error, "context_mark", None):
        mark = error.context_mark  # type: ignore[attr-defined]
    lines = text.splitlines()
    if (tab := tab_in_indentation(lines, mark)) is not None:
        return finding(file, "AP0005", tab[0], tab[1], "a tab in the indentation", "YAML indents with spaces")
    if "cannot start any token" in problem and mark is not None:
        letter = lines[mark.line][mark.column : mark.column + 1] if mark.line < len(lines) else ""
        return finding(file, "AP0004", mark.line, mark.column, f"a value cannot begin with {letter}", QUOTE)
    if "maximum nesting" in problem and mark is not None:
        return finding(file, "AP0012", mark.line, mark.column, "nested too deep", "a profile needs five levels")
    before = lines[mark.line][: mark.column] if mark is not None and mark.line < len(lines) else ""
    if "mapping values" in problem and ": " in before:
        return finding(file, "AP0004", mark.line, mark.column, 'a second ": " in one value', QUOTE)
    if "node content" in problem and mark is not None and mark.line >= len(lines):
        return finding(file, "AP0004", mark.line, mark.column, "the text ends inside a bracket", "close it with ] or }")
    line = lines[mark.line] if before else ""
    if "flow mapping" in context and (reference := line.find("${", mark.column)) >= 0:
        fact = "${ } cannot stand unquoted between { and }"
        return finding(file, "AP0004", mark.line, reference, fact, "write its key on a line of its own")
    fact, fix = next((said for part, said in PROBLEMS.items() if part in problem), (problem, INDENT))
    if mark is None:
        return Diagnostic("AP0004", Severity.ERROR, Position(file), "", fact, fix)
    return finding(file, "AP0004", mark.line, mark.column, fact, fix)


def finding(file: str, code: str, line: int, column: int, fact: str, fix: str) -> Diagnostic:
    """`line` and `column` count from 0, as the parser's marks do."""
    return Diagnostic(code, Severity.ERROR, Position(file, line + 1, column + 1), "", fact, fix)


def tab_in_indentation(lines: list[str], mark: Any) -> tuple[int, int] | None:
    """Line and column (from 0) of a tab that indents the line complained of, or one of the two before it."""
    if mark is None:
        return None
    for line in range(min(mark.line, len(lines) - 1), max(mark.line - 3, -1), -1):
        indentation = lines[line][: len(lines[line]) - len(lines[line].lstrip())]
        if "\t" in indentation and lines[line].strip():
            return line, indentation.index("\t")
    return None
