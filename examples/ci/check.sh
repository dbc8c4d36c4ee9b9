#!/bin/sh
# Fails if a pool is short or was not observed, and changes nothing. Run it before a training job. It needs jq.
set -eu
report=$(gpupool reconcile --dry-run -o json)
echo "$report" | jq -r '.spot_pools[] | "\(.region)/\(.name): \(.capacity // "?") of \(.minimum), \(.outcome)"'
echo "$report" | jq -e 'all(.spot_pools[]; .shortfall == 0)' >/dev/null
