"""Renders the chart with Helm's own engine. As a script: values on standard input, texts by file on standard output.

A process of its own: the library brings Go's runtime along, which takes over signals.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).resolve().parents[2] / "deploy/helm/appliance"


def render_chart(values: dict[str, Any], name: str = "triage") -> dict[str, dict[str, Any]]:
    """Kind -> object. RuntimeError with Helm's words where it refuses."""
    wish = json.dumps({"values": values, "name": name})
    ran = subprocess.run([sys.executable, __file__], input=wish, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    texts = [text for file, text in json.loads(ran.stdout).items() if file.endswith(".yaml")]
    trees = [tree for text in texts for tree in yaml.safe_load_all(text) if tree]
    return {tree["kind"]: tree for tree in trees}


def main() -> None:
    from helm_python.chart import Chart, lint

    wish = json.load(sys.stdin)
    found = lint(CHART, wish["values"], strict=True)
    if found["errors"]:
        sys.exit(f"helm lint: {found['errors']}")
    json.dump(Chart.load(CHART).render(wish["values"], name=wish["name"], namespace="models"), sys.stdout)


if __name__ == "__main__":
    main()
