package usage

import (
	"cmp"
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// offline prints usage from lists of pods and nodes in files.
func (o *options) offline(ctx context.Context, budgets []string) error {
	if len(budgets) > 0 {
		return process.Usagef("--pods cannot be combined with a budget")
	}
	q, err := o.offlineQuestion()
	if err != nil {
		return process.WrongUsage(err)
	}
	pods, err := o.readPods(ctx, q)
	if err != nil {
		return err
	}
	report, err := pods.report(q)
	if err != nil {
		return err
	}
	pods.warn(o.session)
	if o.session.Output(process.CSV) {
		err = o.session.Put(csvText(report.Pods, report.Listed))
	} else {
		err = o.session.Print(report, func(style terminal.Style) string { return podsText(style, report, q) })
	}
	if err := cmp.Or(err, pods.verdict()); err != nil {
		return err
	}
	return o.verdict(report.Exceeded != nil && *report.Exceeded)
}

// readNodes reads the list of nodes; nil without --nodes.
func (o *options) readNodes(ctx context.Context) (func(name string) []gpu.Node, error) {
	if o.nodes == "" {
		return nil, nil
	}
	nodes := map[string]gpu.Node{}
	list := kubectlList{kind: "Node", plural: "nodes", item: func(raw json.RawMessage) (string, error) {
		node, err := gpu.DecodeNode(raw)
		if err != nil {
			return "", err
		}
		nodes[node.Name] = gpu.NodeOf(node)
		return node.Kind, nil
	}}
	return func(name string) []gpu.Node {
		if node, ok := nodes[name]; ok {
			return []gpu.Node{node}
		}
		return nil
	}, list.readFile(ctx, o.session, o.nodes)
}

// readPods reads the nodes and then the pods.
func (o *options) readPods(ctx context.Context, q question) (*podList, error) {
	nodes, err := o.readNodes(ctx)
	if err != nil {
		return nil, err
	}
	world := gpu.World{Now: q.at, Read: q.read, Nodes: nodes}
	pods := &podList{noNodes: nodes == nil}
	type reservation struct{ node, group string }
	reserved := map[reservation]bool{}
	var fractions []*corev1.Pod // these use reservations of other pods
	list := kubectlList{kind: "Pod", plural: "pods", item: func(raw json.RawMessage) (string, error) {
		pod, err := gpu.DecodePod(raw)
		if err != nil {
			return "", err
		}
		if node, group, ok := gpu.ReservationOf(pod); ok {
			reserved[reservation{node, group}] = true
		}
		switch {
		case !q.weights.MayHold(pod):
		case !pods.noNodes && gpu.ByFraction(pod):
			fractions = append(fractions, pod)
		case q.covers(pod.Namespace, pod.Labels):
			pods.add(q, q.weights.Observe(pod, world))
		}
		return pod.Kind, nil
	}}
	if err := list.readFile(ctx, o.session, o.pods); err != nil {
		return nil, err
	}
	world.Reserved = func(node, group string) bool { return reserved[reservation{node, group}] }
	for _, pod := range fractions {
		s := q.weights.Observe(pod, world)
		if q.covers(pod.Namespace, pod.Labels) {
			pods.add(q, s)
		} else {
			pods.addOther(q, s)
		}
	}
	return pods, nil
}
