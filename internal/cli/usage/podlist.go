package usage

import (
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// podList are the selected pods of a list that hold GPUs. Its zero value is empty.
type podList struct {
	records     []ledger.Record
	others      []ledger.Record // of pods that are not selected, and share GPUs with selected ones
	uids        map[string]bool
	allocations map[string]*ledger.Allocation // shared, since many pods hold the same
	sets        map[string]*ledger.LabelSet   // by namespace and kept labels
	warnings    reason.Reasons
	problems    int  // including those without a warning
	noNodes     bool // without a list of nodes, the spec of pods counts
	partly      int  // pods that are partly counted
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

// add adds a selected pod.
func (p *podList) add(q question, s gpu.Pod) {
	if p.uids == nil {
		p.uids, p.allocations, p.sets = map[string]bool{}, map[string]*ledger.Allocation{}, map[string]*ledger.LabelSet{}
	}
	pod := s.Namespace + "/" + s.Name
	s.Labels = q.groupLabel(s.Labels)
	uid := s.UID
	if uid == "" {
		s.UID = pod
	}
	if p.uids[s.UID] {
		p.problem(pod, reason.ListedTwice())
		return
	}
	p.uids[s.UID] = true
	if s.End.Open() || s.End.At > ledger.TimeOf(q.begin) {
		for _, problem := range s.Problems {
			p.problem(pod, problem)
		}
		if s.End.Source == ledger.SeenTerminal {
			p.problem(pod, reason.EndUnlisted(reason.Instant{Time: q.at}))
		}
		if s.Shown == 0 && !p.noNodes && !s.Node.Shown && s.Scheduled.At != 0 && len(s.Shares) > 0 {
			p.problem(pod, reason.NodeUnlisted(reason.Node(s.Node.Name)))
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
		p.keep(q, record)
	}
}

// otherLabel marks pods that are not selected, so that a selector can exclude them.
const otherLabel = "gpupool/not-asked-for"

// addOther adds the GPUs that an unselected pod shares.
func (p *podList) addOther(q question, s gpu.Pod) {
	s.Labels = map[string]string{otherLabel: ""}
	if r, holds := accounting.RecordOf(s, q.read); holds && r.Allocation.Shared() {
		r.Place, r.Owner = nil, nil
		p.others = append(p.others, r)
	}
}

// keep adds a record without fields that only ledgers need. Records share equal values.
func (p *podList) keep(q question, r ledger.Record) {
	r.Place = nil
	if q.listing.By != usage.ByOwner {
		r.Owner = nil
	}
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

// warningsAtMost is the most pods with a warning of their own.
const warningsAtMost = 20

// problem adds a warning about a pod, up to the limit.
func (p *podList) problem(pod string, why reason.Reason) {
	p.problems++
	if len(p.warnings) < warningsAtMost {
		p.warnings = append(p.warnings, reason.PodProblem(reason.Workload("Pod "+pod), why))
	}
}

// warn prints the warnings.
func (p *podList) warn(s *process.Session) {
	if p.noNodes && len(p.records) > 0 {
		s.Warn("without --nodes, usage is not limited by the GPUs of nodes")
	}
	s.Warn(p.warnings.Texts()...)
	if more := p.problems - len(p.warnings); more > 0 {
		s.Warn(wording.Count(more, "more warning") + " of this kind")
	}
}

// verdict is the exit code: 3 if a pod is only partly counted.
func (p *podList) verdict() error {
	if p.partly == 0 {
		return nil
	}
	return process.WithExitCode(process.ExitPartly, fmt.Errorf("%s %s only partly counted: actual usage is higher",
		wording.Count(p.partly, "pod"), wording.Are(p.partly)))
}
