// Package usage is the command gpupool usage.
package usage

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const usageHelp = `Print the GPU-hours that pods used. Every pod that held GPUs inside the window is
listed, with the whole interval in which it held them; what it used counts inside the
window alone.

With BUDGET it is that budget's use this very moment, and without it that of any
selector: from the cluster, and from the ledger in the store, which knows the pods that
are gone. Nothing is written. With --pods it is that of a list of pods as kubectl prints
it, without any cluster.

A pod holds its GPUs from when it was scheduled until it ended: that is what the
scheduler keeps from others, also while an image is pulled or a container restarts.
With --count-from running it counts from the first container's start instead. Ends
are read from the pod itself, and end_source says where. A pod without an end holds
its GPUs still. Times in the future are not believed; with --at, those are that lie
more than 400 days behind it, and what came after it is left out: a pod that ended
later still holds its GPUs.

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

  # For a script, as of a moment
  gpupool usage --pods pods.json --at 2026-11-02T12:00:00Z -o json | jq -r .consumed_gpu_hours

  # Count a MIG slice by memory, and another vendor's GPUs
  gpupool usage --pods pods.json --weight nvidia.com/mig-1g.5gb=1/8 --weight example.com/gpu=1`

type options struct {
	session    *process.Session
	store      connect.StoreFlags
	pods       string
	nodes      string
	namespaces []string
	selector   string
	at         string
	window     string
	gpuHours   string
	countFrom  string
	weights    []string
	given      func(flag string) bool
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "usage [BUDGET | --pods FILE]",
		Short:   "GPU-hours that pods used",
		Long:    usageHelp + "\n\n" + weightsHelp(),
		Example: usageExamples,
		Args:    cobra.MaximumNArgs(1),
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(true, store.Budgets),
	}
	o.store.Register(cmd, s)
	f := cmd.Flags()
	o.given = f.Changed
	f.StringVar(&o.pods, "pods", "", "`FILE` with a list of pods, as kubectl get pods -A -o json prints it; - is standard input")
	f.StringVar(&o.nodes, "nodes", "", "`FILE` with a list of nodes, as kubectl get nodes -o json prints it (with --pods)")
	f.StringArrayVarP(&o.namespaces, "namespace", "n", nil, "pods of this `NAMESPACE` alone; may be repeated")
	f.StringVarP(&o.selector, "selector", "l", "", "pods with these labels alone, by an `EXPRESSION` as kubectl takes it: team=a,tier in (x,y),!debug")
	f.StringVar(&o.at, "at", "", "as of this `TIME` (RFC 3339) instead of now (with --pods)")
	f.StringVar(&o.window, "window", "24h", "count back so `LONG`, such as 90m, 24h or 7d")
	f.StringVar(&o.gpuHours, "gpu-hours", "", "the `LIMIT` to compare with, with at most three digits after the point")
	o.countFrom = string(budget.FromScheduled)
	process.ChoiceVar(cmd, &o.countFrom, "count-from", "", "from when a pod counts: when it was scheduled, or when its first container started", string(budget.FromScheduled), string(budget.FromRunning))
	f.StringArrayVar(&o.weights, "weight", nil, "GPUs a unit, as `RESOURCE=GPUS`, such as nvidia.com/mig-1g.5gb=1/7; may be repeated")
	for _, flag := range []string{"pods", "nodes"} {
		_ = cmd.MarkFlagFilename(flag, "json")
	}
	s.LogFlags(cmd)
	s.OutputFlag(cmd)
	return cmd
}

func (o *options) run(ctx context.Context, budgets []string) error {
	if o.given("pods") {
		return o.offline(ctx, budgets)
	}
	return o.live(ctx, budgets)
}

// weightsHelp lists the default weight of each resource.
func weightsHelp() string {
	var out bytes.Buffer
	out.WriteString("GPUs a unit, where --weight says nothing else:\n")
	for _, d := range gpu.DefaultWeights() {
		fmt.Fprintf(&out, "\n  %s: %s\n      %s\n", d.Resource, d.Weight, d.Note)
	}
	return out.String()
}
