package usage

import (
	"bytes"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

const usageHelp = `Print the GPU-hours that pods used. Every pod that held GPUs inside the window is
listed, with the whole interval in which it held them; what it used counts inside the
window alone.

With BUDGET it is that budget's use this very moment, and without it that of any
selector: from the cluster, and from the ledger in the store, which knows the pods that
are gone. Nothing is written. With --pods it is that of a list of pods as kubectl prints
it, without any cluster.

--at asks of another moment: of any that the ledger holds, or of any at all with --pods.
--window and --period count over another time than the budget's own: its limit is then
not compared, unless --gpu-hours gives one. Periods begin as the budget's calendar has
it, or that of --time-zone.

--by lists namespaces, or the values of a pod label, instead of pods; what is totalled is
always all of it. People see times of this machine's zone, or of the calendar's;
programs UTC. The columns of -o csv are called as the fields of -o json. --exit-code
ends with 2 if the limit is exceeded; without it the exit code says nothing of that.

--replay asks what a limit would have come to over all that the ledger holds: when each
threshold would have been reached, for how long it would have been exceeded, and who
held GPUs then. --gpu-hours, --window and --period try another limit or window on the
budget. Pods that were evicted ended when they did. With --exit-code it ends with 2 if
the limit would ever have been exceeded.

A pod holds its GPUs from when it was scheduled until it ended: that is what the
scheduler keeps from others, also while an image is pulled or a container restarts.
With --count-from running it counts from the first container's start instead. Ends
are read from the pod itself, and end_source says where. A pod without an end holds
its GPUs still. With --at, what came after it is left out: a pod that ended later still
holds its GPUs. Times in the future are not believed; of a list of pods with --at, those
are that lie more than 400 days behind it.

Without a selector all pods count. Pods that were deleted are in no list of kubectl's:
where there is no ledger, they are not counted.

GPUs are counted by resource: whole ones, MIG slices by their compute, shared ones by
the labels of their nodes (--nodes), parts of cards by core or memory, fractions by
annotation. --weight sets what a unit of a resource is worth. What could not be
understood of a pod is told as a warning; with exit code 3 some of it is not counted.

With --nodes no pod counts more than its node has, and a fraction counts where its
scheduler reserved a GPU for it. A node that a pod names and --nodes lacks is gone: what
the pod holds is an estimate, which reaches no limit, and one whose deletion is overdue
there has ended. Without --nodes every node is taken to be there, and each pod is taken
at its word, which a warning says. A pod counts once its kubelet took it.`

const usageExamples = `  # A budget, and who used it
  gpupool usage team-a

  # What one team used in a week, declared or not
  gpupool usage --namespace ml --selector team=a --window 7d

  # The GPU-hours of the last day, of all pods
  kubectl get pods -A -o json | gpupool usage --pods -

  # One team's, against a limit
  kubectl get pods -A -o json > pods.json
  kubectl get nodes -o json > nodes.json
  gpupool usage --pods pods.json --nodes nodes.json --namespace ml --selector team=a --window 7d --gpu-hours 100

  # Who used most this month, and at half past two
  gpupool usage --by label:team --top 5 --period month --time-zone Europe/Berlin
  gpupool usage team-a --by namespace --at 2026-11-02T02:30:00Z

  # Would 50 GPU-hours have been enough, and in which week not?
  gpupool usage team-a --replay --gpu-hours 50
  gpupool usage --namespace ml --replay --gpu-hours 300 --period week

  # For a spreadsheet, and for an alert
  gpupool usage team-a -o csv > team-a.csv
  gpupool usage team-a --exit-code || echo "team-a is over its limit"

  # For a script, as of a moment
  gpupool usage --pods pods.json --at 2026-11-02T12:00:00Z -o json | jq -r .consumed_gpu_hours

  # Count a MIG slice by memory, and another vendor's GPUs
  gpupool usage --pods pods.json --weight nvidia.com/mig-1g.5gb=1/8 --weight example.com/gpu=1`

// weightsHelp lists what a unit of each resource is worth where no flag says so.
func weightsHelp() string {
	var out bytes.Buffer
	out.WriteString("GPUs a unit, where --weight says nothing else:\n")
	for _, d := range gpu.DefaultWeights() {
		fmt.Fprintf(&out, "\n  %s: %s\n      %s\n", d.Resource, d.Weight, d.Note)
	}
	return out.String()
}
