"""The YAML parser's complaints in words that say what to do about them."""

from typing import Any

import yaml

from ..diagnostics import Diagnostic, Position, Severity

ELSE = "`appliance schema` and profiles/quickstart.yaml show how a profile is written"
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
    "invalid Unicode character escape": ("an escape in double quotes names no character", "use single quotes"),
    "unknown directive name": ("a line that begins with % is a directive, and YAML has none of this name", "remove it"),
    "incompatible YAML document": ("the %YAML directive names a version that does not exist", "remove that line"),
    "invalid leading UTF-8": ("bytes that are not UTF-8", "save the file as UTF-8"),
}
OPENED = ("quoted scalar", "flow sequence", "flow mapping")


def explain(file: str, text: str, error: yaml.YAMLError) -> Diagnostic:
    problem = str(getattr(error, "problem", None) or error)
    context = str(getattr(error, "context", None) or "")
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if any(word in context for word in OPENED):
        mark = getattr(error, "context_mark", None) or mark
    if mark is None:
        return Diagnostic("AP0004", Severity.ERROR, Position(file), "", problem, ELSE)
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    code, column, fact, fix = judge(problem, context, line, mark.column)
    if (tab := tab_in_indentation(lines, mark)) is not None:
        return finding(file, "AP0005", tab[0], tab[1], "a tab in the indentation", "YAML indents with spaces")
    return finding(file, code, mark.line, column, fact, fix)


def judge(problem: str, context: str, line: str, column: int) -> tuple[str, int, str, str]:
    """(code, column, fact, way out); `column` counts from 0."""
    if "cannot start any token" in problem:
        return "AP0004", column, f"a value cannot begin with {line[column : column + 1]}", QUOTE
    if "maximum nesting" in problem:
        return "AP0012", column, "nested too deep", "a profile needs five levels"
    if "mapping values" in problem and ": " in line[:column]:
        return "AP0004", column, 'a second ": " in one value', QUOTE
    if "node content" in problem and not line:
        return "AP0004", column, "the text ends inside a bracket", "close it with ] or }"
    if "flow mapping" in context and (reference := line.find("${", column)) >= 0:
        fact = "${ } cannot stand unquoted between { and }"
        return "AP0004", reference, fact, "write its key on a line of its own"
    fact, fix = next((said for part, said in PROBLEMS.items() if part in problem), (problem, ELSE))
    return "AP0004", column, fact, fix


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
