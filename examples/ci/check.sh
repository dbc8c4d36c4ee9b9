#!/bin/sh
# Fails where pools are not as declared, and changes nothing: for a gate before
# a training job. Needs jq.
set -eu
report=$(gpupool reconcile --dry-run -o json)
echo "$report" | jq -r '.spot_pools[] | "\(.region)/\(.name): \(.capacity) of \(.minimum), \(.outcome)"'
echo "$report" | jq -e 'all(.spot_pools[]; .shortfall == 0)' >/dev/null
