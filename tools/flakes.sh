#!/usr/bin/env bash
# Finds tests whose result differs between runs: flakes.sh [RUNS [OPTIONS]]
# Runs all tests RUNS times (default: 10) while four other processes keep the machine busy. OPTIONS are options of
# `cargo test`.
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
    # Every test binary runs to its end. Failures are counted below.
    cargo test --locked --no-fail-fast "$@" >"$work/$run.log" 2>&1 || true
    # A result is "CRATE NAME ... ok". Names are unique within a test binary. The hash at the end of its name is
    # removed.
    awk '/^ +(Running|Doc-tests) / { binary = $NF; gsub(/.*\/|-[0-9a-f]+\)$/, "", binary) }
        /^test .* \.\.\. / { sub(/^test/, binary); print }' "$work/$run.log" | sort >"$work/$run.results"
    printf 'run %s: %s tests, %s failed\n' "$run" "$(wc -l <"$work/$run.results")" \
        "$(grep -c ' FAILED$' "$work/$run.results" || true)"
done

# These are the results that not every run has.
differing=$(cat "$work"/*.results | sort | uniq -c | awk -v runs="$runs" '$1 != runs')
if [ -n "$differing" ]; then
    printf 'Results that differ (how often, in %s runs):\n%s\n' "$runs" "$differing"
    # Print the output of the failed tests.
    grep -h -A 15 "^---- .* stdout ----" "$work"/*.log || true
    exit 1
fi
echo "All $runs runs had the same results."
