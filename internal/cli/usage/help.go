package usage

import (
	"bytes"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

const usageHelp = `Show the GPU-hours that pods used in a window or calendar period.

With BUDGET: current usage of that budget. Without: usage of all pods, or of those
that --namespace and --selector select. Both read the cluster, and the ledger in the
store, which knows deleted pods. With --pods: usage of a list of pods, without a
cluster. Nothing is written.

Time:
  --at       another moment: any in the ledger, or any at all with --pods
  --window, --period
             another window than that of the budget; its limit is then compared
             only if --gpu-hours sets one

Output:
  --by       group by namespace, owner (the controller of a pod) or pod label
  --replay   apply a limit to the whole ledger: when each threshold was reached,
             how long the limit was exceeded, and who used GPUs then
  -o csv     the columns have the names of the JSON fields

Counting:
  A pod uses its GPUs from scheduling until it ends, also while an image is
  pulled or a container restarts. --count-from running counts from the first
  container start. The whole interval of a pod is listed; only its part in the
  window counts. Deleted pods count only if the ledger has them. Times in the
  future are ignored.

  Resources count by weight: whole GPUs, MIG slices by compute, shared GPUs by
  the labels of their nodes (--nodes), parts of GPUs by core or memory,
  fractions by annotation. --weight changes the weight of a resource. Pods that
  cannot be counted cause a warning, and exit code 3.

  With --nodes, a pod counts at most the GPUs of its node, and a fraction counts
  where its scheduler reserved a GPU. If a node is missing there, the usage of
  its pods is an estimate, which never reaches a limit. Without --nodes, the pod
  spec is used.`

const usageExamples = `  # A budget and its pods
  gpupool usage team-a

  # Usage of a team in a week, without a budget
  gpupool usage --namespace ml --selector team=a --window 7d

  # All pods of the last day, from a list
  kubectl get pods -A -o json | gpupool usage --pods -

  # A team compared with a limit, from lists
  kubectl get pods -A -o json > pods.json
  kubectl get nodes -o json > nodes.json
  gpupool usage --pods pods.json --nodes nodes.json --namespace ml \
    --selector team=a --window 7d --gpu-hours 100

  # The largest users of this month, and at a moment
  gpupool usage --by label:team --top 5 --period month --time-zone Europe/Berlin
  gpupool usage team-a --by namespace --at 2026-11-02T02:30:00Z

  # Would 50 GPU-hours have been enough? Which weeks exceeded 300?
  gpupool usage team-a --replay --gpu-hours 50
  gpupool usage --namespace ml --replay --gpu-hours 300 --period week

  # For a spreadsheet, and for an alert
  gpupool usage team-a -o csv > team-a.csv
  gpupool usage team-a --exit-code || echo "team-a is over its limit"

  # For a script, at a moment
  gpupool usage --pods pods.json --at 2026-11-02T12:00:00Z -o json \
    | jq -r .consumed_gpu_hours

  # Other weights of resources
  gpupool usage --pods pods.json --weight nvidia.com/mig-1g.5gb=1/8 \
    --weight example.com/gpu=1`

// weightsHelp lists the default weight of each resource.
func weightsHelp() string {
	var out bytes.Buffer
	out.WriteString("Default weights, in GPUs for each unit:\n")
	for _, d := range gpu.DefaultWeights() {
		fmt.Fprintf(&out, "\n  %s: %s\n      %s\n", d.Resource, d.Weight, d.Note)
	}
	return out.String()
}
