package usage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// podsSeen are the pods of a list that hold GPUs and are asked for. Zero is none.
type podsSeen struct {
	records  []ledger.Record
	others   []ledger.Record // of pods that are not asked for, and share GPUs with those
	uids     map[string]bool
	held     map[string]*ledger.Holding // by what is held: many pods hold the same
	sets     map[string]*ledger.LabelSet
	warnings []string
	// believed says that no node is known, so that pods are taken at their word.
	believed bool
	partly   int // pods of which something is not counted
	doubtful int
}

// warningsAtMost bounds what is said of pods one by one.
const warningsAtMost = 20

// look reads the nodes and then the pods.
func (o *options) look(ctx context.Context, q question) (*podsSeen, error) {
	world := gpu.World{Now: q.at, Read: q.read}
	if o.nodes != "" {
		nodes := map[string]gpu.Node{}
		list := kubeList{kind: "Node", plural: "nodes", item: func(raw json.RawMessage) (string, error) {
			node, err := gpu.DecodeNode(raw)
			if err != nil {
				return "", err
			}
			nodes[node.Name] = gpu.NodeOf(node)
			return node.Kind, nil
		}}
		if err := list.readFile(ctx, o.session, o.nodes); err != nil {
			return nil, err
		}
		world.Nodes = func(name string) []gpu.Node {
			if node, ok := nodes[name]; ok {
				return []gpu.Node{node}
			}
			return nil
		}
	}
	seen := &podsSeen{believed: o.nodes == ""}
	reserved := map[[2]string]bool{}
	var fractions []*corev1.Pod // which are of what other pods of the list reserve
	list := kubeList{kind: "Pod", plural: "pods", item: func(raw json.RawMessage) (string, error) {
		pod, err := gpu.DecodePod(raw)
		if err != nil {
			return "", err
		}
		if node, group, ok := gpu.ReservationOf(pod); ok {
			reserved[[2]string{node, group}] = true
		}
		switch {
		case !q.weights.MayHold(pod):
		case !seen.believed && gpu.ByFraction(pod):
			fractions = append(fractions, pod)
		case q.covers(pod.Namespace, pod.Labels):
			seen.add(q, q.weights.See(pod, world))
		}
		return pod.Kind, nil
	}}
	if err := list.readFile(ctx, o.session, o.pods); err != nil {
		return nil, err
	}
	world.Reserved = func(node, group string) bool { return reserved[[2]string{node, group}] }
	for _, pod := range fractions {
		s := q.weights.See(pod, world)
		if q.covers(pod.Namespace, pod.Labels) {
			seen.add(q, s)
		} else {
			seen.addOther(q, s)
		}
	}
	return seen, nil
}

// addOther keeps of a pod that is not asked for what it shares.
func (p *podsSeen) addOther(q question, s gpu.Sighting) {
	s.Labels = map[string]string{otherLabel: ""}
	if r, holds := reconcile.RecordOf(s, q.read); holds && r.Held.Shared() {
		r.Place, r.Owner = nil, nil
		p.others = append(p.others, r)
	}
}

// otherLabel marks others.
const otherLabel = "other"

// all are the records of all pods, those that are not asked for included.
func (p *podsSeen) all(yield func(*ledger.Record) bool) {
	for _, list := range [][]ledger.Record{p.records, p.others} {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}

// add keeps what accounting needs of a pod.
func (p *podsSeen) add(q question, s gpu.Sighting) {
	if p.uids == nil {
		p.uids, p.held, p.sets = map[string]bool{}, map[string]*ledger.Holding{}, map[string]*ledger.LabelSet{}
	}
	pod := s.Namespace + "/" + s.Name
	s.Labels = nil // they have done their part
	uid := s.UID
	if uid == "" {
		s.UID = pod
	}
	if p.uids[s.UID] {
		p.doubt(pod, "it is in the list twice; the first counts")
		return
	}
	p.uids[s.UID] = true
	if s.End.At.IsZero() || s.End.At.After(q.begin()) {
		for _, problem := range s.Problems {
			p.doubt(pod, problem)
		}
		if s.End.Source == gpu.SeenTerminal {
			p.doubt(pod, fmt.Sprintf("nothing tells when it ended: counted until %s, and further each time; kubectl get --show-managed-fields may tell", q.at.Format(time.RFC3339)))
		}
		if s.Shown == 0 && !p.believed && !s.Scheduled.At.IsZero() && len(s.Shares) > 0 {
			p.doubt(pod, fmt.Sprintf("nothing shows what its node %s has: an estimate, which reaches no limit", s.Node.Name))
		}
		if s.Incomplete {
			p.partly++
		}
	}
	if record, holds := reconcile.RecordOf(s, q.read); holds {
		record.UID = uid
		if p.believed {
			record.Held.Shown = 1
		}
		p.keep(record)
	}
}

// keep has records share what is the same, and drops what only ledgers need.
func (p *podsSeen) keep(r ledger.Record) {
	r.Place, r.Owner = nil, nil
	var key strings.Builder
	for _, share := range r.Held.Shares {
		fmt.Fprintf(&key, "%s %s %s %s\n", share.Resource, share.Units, share.Weight, share.Claim)
	}
	fmt.Fprint(&key, r.Held.Shown)
	if p.held[key.String()] == nil {
		p.held[key.String()] = r.Held
	}
	if p.sets[r.Set.Namespace] == nil {
		p.sets[r.Set.Namespace] = r.Set
	}
	r.Held, r.Set = p.held[key.String()], p.sets[r.Set.Namespace]
	p.records = append(p.records, r)
}

func (p *podsSeen) doubt(pod, problem string) {
	p.doubtful++
	if len(p.warnings) < warningsAtMost {
		p.warnings = append(p.warnings, fmt.Sprintf("the pod %s: %s", pod, problem))
	}
}

// warn says on standard error what could not be understood.
func (p *podsSeen) warn(s *process.Session) {
	if p.believed && len(p.records) > 0 {
		s.Warn("without --nodes each pod is taken at its word: what its node has does not limit what it counts")
	}
	for _, text := range p.warnings {
		s.Warn(text)
	}
	if more := p.doubtful - len(p.warnings); more > 0 {
		s.Warn(fmt.Sprintf("and %d more of the kind", more))
	}
}

// verdict is the exit code: 3 where something is not counted.
func (p *podsSeen) verdict() error {
	if p.partly == 0 {
		return nil
	}
	return process.WithExitCode(process.ExitPartly, fmt.Errorf("%s not counted in full: the usage is at least what is printed", isOrAre(p.partly, "pod")))
}

func isOrAre(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return fmt.Sprintf("%d %ss are", n, what)
}

// begin is when the window begins.
func (q question) begin() time.Time { return q.at.Add(-q.length) }
