package usage

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
)

// podList are the selected pods of a list that hold GPUs. Its zero value is empty.
type podList struct {
	records     []ledger.Record
	others      []ledger.Record // of pods that are not selected, and share GPUs with selected ones
	uids        map[string]bool
	allocations map[string]*ledger.Allocation // shared, since many pods hold the same
	sets        map[string]*ledger.LabelSet   // by namespace and what is kept of labels
	warnings    []string
	problems    int  // how many there are, listed or not
	noNodes     bool // without a list of nodes, pods' own word counts
	partly      int  // pods that are not counted in full
}

// all are the records of all pods, selected or not.
func (p *podList) all(yield func(*ledger.Record) bool) {
	for _, list := range [][]ledger.Record{p.records, p.others} {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}

// add keeps what accounting needs of a pod.
func (p *podList) add(q question, s gpu.Pod) {
	if p.uids == nil {
		p.uids, p.allocations, p.sets = map[string]bool{}, map[string]*ledger.Allocation{}, map[string]*ledger.LabelSet{}
	}
	pod := s.Namespace + "/" + s.Name
	s.Labels = q.kept(s.Labels)
	uid := s.UID
	if uid == "" {
		s.UID = pod
	}
	if p.uids[s.UID] {
		p.problem(pod, "it is in the list twice; the first counts")
		return
	}
	p.uids[s.UID] = true
	if s.End.Open() || s.End.At > ledger.TimeOf(q.begin) {
		for _, problem := range s.Problems {
			p.problem(pod, problem)
		}
		if s.End.Source == ledger.SeenTerminal {
			p.problem(pod, fmt.Sprintf("nothing tells when it ended: counted until %s, and further each time; kubectl get --show-managed-fields may tell",
				q.at.Format(time.RFC3339)))
		}
		if s.Shown == 0 && !p.noNodes && !s.Node.Shown && s.Scheduled.At != 0 && len(s.Shares) > 0 {
			p.problem(pod, fmt.Sprintf("nothing shows what its node %s has: an estimate, which reaches no limit", s.Node.Name))
		}
		if s.Incomplete {
			p.partly++
		}
	}
	if record, holds := accounting.RecordOf(s, q.read); holds {
		record.UID = uid
		if p.noNodes {
			record.Allocation.Shown = 1
		}
		p.keep(record)
	}
}

// otherLabel marks the pods that are not asked for, so that a selector can leave
// them out.
const otherLabel = "gpupool/not-asked-for"

// addOther adds what a pod that is not selected shares with others.
func (p *podList) addOther(q question, s gpu.Pod) {
	s.Labels = map[string]string{otherLabel: ""}
	if r, holds := accounting.RecordOf(s, q.read); holds && r.Allocation.Shared() {
		r.Place, r.Owner = nil, nil
		p.others = append(p.others, r)
	}
}

// keep adds a record without the fields that only ledgers need. Records share values
// that are the same.
func (p *podList) keep(r ledger.Record) {
	r.Place, r.Owner = nil, nil
	var key strings.Builder
	for _, share := range r.Allocation.Shares {
		fmt.Fprintf(&key, "%s %s %s %s\n", share.Resource, share.Units, share.Weight, share.Claim)
	}
	fmt.Fprint(&key, r.Allocation.Shown)
	if p.allocations[key.String()] == nil {
		p.allocations[key.String()] = r.Allocation
	}
	set := fmt.Sprint(r.Set.Namespace, r.Set.Labels)
	if p.sets[set] == nil {
		p.sets[set] = r.Set
	}
	r.Allocation, r.Set = p.allocations[key.String()], p.sets[set]
	p.records = append(p.records, r)
}

// warningsAtMost is how many pods are warned of one by one.
const warningsAtMost = 20

// problem notes a warning about a pod, and counts those beyond the limit.
func (p *podList) problem(pod, problem string) {
	p.problems++
	if len(p.warnings) < warningsAtMost {
		p.warnings = append(p.warnings, fmt.Sprintf("the pod %s: %s", pod, problem))
	}
}

// warn says on standard error what could not be understood.
func (p *podList) warn(s *process.Session) {
	if p.noNodes && len(p.records) > 0 {
		s.Warn("without --nodes each pod is taken at its word: what its node has does not limit what it counts")
	}
	s.Warn(p.warnings...)
	if more := p.problems - len(p.warnings); more > 0 {
		s.Warn(fmt.Sprintf("and %d more of the kind", more))
	}
}

// verdict is the exit code: 3 where something is not counted.
func (p *podList) verdict() error {
	if p.partly == 0 {
		return nil
	}
	pods := "1 pod is"
	if p.partly > 1 {
		pods = fmt.Sprintf("%d pods are", p.partly)
	}
	return process.WithExitCode(process.ExitPartly, fmt.Errorf("%s not counted in full: the usage is at least what is printed", pods))
}
