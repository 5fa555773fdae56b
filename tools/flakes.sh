#!/usr/bin/env bash
# flakes.sh [RUNS [OPTIONS]]: runs all tests RUNS times (10) beside four busy processes, with these options
# of `cargo test`, and reports every test whose result was not the same each time.
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-10}
shift || true
work=$(mktemp -d)
busy=()
trap 'kill "${busy[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT

cargo test --quiet --locked --no-run "$@"
for _ in 1 2 3 4; do
    sh -c 'while :; do :; done' &
    busy+=($!)
done

for run in $(seq "$runs"); do
    # Every test binary runs to its end; a failure counts below.
    cargo test --locked --no-fail-fast "$@" >"$work/$run.log" 2>&1 || true
    # "CRATE NAME ... ok": names are unique in a test binary, whose name ends with a hash.
    awk '/^ +(Running|Doc-tests) / { binary = $NF; gsub(/.*\/|-[0-9a-f]+\)$/, "", binary) }
        /^test .* \.\.\. / { sub(/^test/, binary); print }' "$work/$run.log" | sort >"$work/$run.results"
    printf 'run %s: %s tests, %s failed\n' "$run" "$(wc -l <"$work/$run.results")" \
        "$(grep -c ' FAILED$' "$work/$run.results" || true)"
done

# A result that not every run has.
differing=$(cat "$work"/*.results | sort | uniq -c | awk -v runs="$runs" '$1 != runs')
if [ -n "$differing" ]; then
    printf 'Results that differ (how often, in %s runs):\n%s\n' "$runs" "$differing"
    # What the failures said.
    grep -h -A 15 "^---- .* stdout ----" "$work"/*.log || true
    exit 1
fi
echo "All $runs runs had the same results."
