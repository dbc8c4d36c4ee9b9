// Package usage is the command gpupool usage.
package usage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

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
	output     string
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
		RunE:    s.Run(o.run),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return o.store.CompleteNames(cmd.Context(), s, store.Budgets)
		},
	}
	o.store.Register(cmd)
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
	s.Log.Register(cmd)
	process.OutputVar(cmd, &o.output)
	return cmd
}

// question is what is asked, once the flags were understood.
type question struct {
	at, read time.Time // as of when, and no later than when the pods were read
	from     budget.CountFrom
	terms
}

// terms are which pods count, by what weights, over which time, and
// against what.
type terms struct {
	window  string
	length  time.Duration // of the window
	limit   int64         // milli-GPU-seconds; 0 for none
	rules   gpu.Rules
	weights *gpu.Table // of the rules
	covers  func(namespace string, podLabels map[string]string) bool
}

func (o *options) run(ctx context.Context, budgets []string) error {
	if !o.given("pods") {
		return o.live(ctx, budgets)
	}
	if len(budgets) > 0 {
		return process.Usagef("--pods is for usage without a cluster: leave out either it or the budget")
	}
	question, err := o.question()
	if err != nil {
		return process.WrongUsage(err)
	}
	seen, err := o.look(ctx, question)
	if err != nil {
		return err
	}
	report, err := seen.report(question)
	if err != nil {
		return err
	}
	seen.warn(o.session)
	if o.output == process.AsJSON {
		err = o.session.PutJSON(report, true)
	} else {
		err = o.session.Put([]byte(podsText(o.session.StyleOf(o.session.Stdout), report, question)))
	}
	if err != nil {
		return err
	}
	return seen.verdict()
}

// question understands the flags, before anything is read.
func (o *options) question() (question, error) {
	now := o.session.Now().UTC()
	q := question{at: now, read: now, from: budget.CountFrom(o.countFrom)}
	switch {
	case o.pods == "":
		return q, errors.New("--pods names no file: write --pods FILE, or --pods - for standard input")
	case o.pods == "-" && o.nodes == "-":
		return q, errors.New("standard input can be read once only: --pods and --nodes can't both be -")
	case o.given("nodes") && o.nodes == "":
		return q, errors.New("--nodes names no file")
	}
	var err error
	if o.given("at") {
		if q.at, err = parseMoment(o.at); err != nil {
			return q, err
		}
		q.read = q.at.Add(budget.LongestWindow) // whenever it is asked again, the answer stays
	}
	q.terms, err = o.terms()
	return q, err
}

// terms understands the flags that cluster and lists of pods have in common.
func (o *options) terms() (t terms, err error) {
	t.window = o.window
	if t.length, err = budget.ParseWindow(o.window); err != nil {
		return t, fmt.Errorf("--window: %w", err)
	}
	if o.given("gpu-hours") {
		if t.limit, err = budget.ParseHours(o.gpuHours); err != nil {
			return t, fmt.Errorf("--gpu-hours: %w", err)
		}
	}
	if t.rules, err = parseWeights(o.weights); err != nil {
		return t, fmt.Errorf("--weight: %w", err)
	}
	if t.weights, err = t.rules.Table(); err != nil {
		return t, fmt.Errorf("--weight: %w", err)
	}
	t.covers, err = o.coverage()
	return t, err
}

// parseMoment reads a time of this millennium.
func parseMoment(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("--at: %q is no time: write it as RFC 3339 has it, such as 2026-11-02T12:00:00Z", text)
	}
	if at.Year() < 2000 || at.Year() > 2999 {
		return at, fmt.Errorf("--at: %q is no time at which pods ran", text)
	}
	return at.UTC(), nil
}

func parseWeights(assignments []string) (gpu.Rules, error) {
	rules := gpu.Rules{Weights: map[string]string{}}
	for _, assignment := range assignments {
		name, weight, ok := strings.Cut(assignment, "=")
		if !ok {
			return rules, fmt.Errorf("%q sets no weight: write RESOURCE=GPUS, such as nvidia.com/gpu=1", assignment)
		}
		if before, twice := rules.Weights[name]; twice && before != weight {
			return rules, fmt.Errorf("%s has two weights, %s and %s", name, before, weight)
		}
		rules.Weights[name] = weight
	}
	return rules, nil
}

// coverage makes the flags that select pods ready.
func (o *options) coverage() (func(string, map[string]string) bool, error) {
	namespaces := map[string]bool{}
	for _, name := range o.namespaces {
		if reasons := validation.IsDNS1123Label(name); len(reasons) > 0 {
			return nil, fmt.Errorf("--namespace: %q is no namespace: %s", name, strings.Join(reasons, "; "))
		}
		namespaces[name] = true
	}
	selector := labels.Everything()
	if o.given("selector") {
		if strings.TrimSpace(o.selector) == "" {
			return nil, errors.New("--selector is empty: leave it out to count all pods")
		}
		parsed, err := labels.Parse(o.selector)
		if err != nil {
			return nil, fmt.Errorf("--selector: %q is no selector of labels: %w", o.selector, err)
		}
		selector = parsed
	}
	return func(namespace string, podLabels map[string]string) bool {
		return (len(namespaces) == 0 || namespaces[namespace]) && selector.Matches(labels.Set(podLabels))
	}, nil
}
