package budgets

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// pausesADocument is how many workloads stand in one document. All of a tenant's are
// never written anew because of one, and the longest names and labels that are kept
// of so many fit into an object of the Kubernetes API.
const pausesADocument = 100

// pauses is what one budget has paused: the document under its uid, and as many
// more as it takes, under its uid and a number from 1 on.
type pauses struct {
	uid, budget, clusterUID string
	parts                   []part
}

// part is one document of them.
type part struct {
	name      string                              // in the store
	read      record.Document[declaration.Pauses] // or written last
	workloads []declaration.Pause                 // of now
	changed   bool                                // since it was read or written
}

// allPauses is what all budgets of a store have paused.
type allPauses struct {
	byBudget []*pauses // in the order of the budgets' uids
	// broken says why the documents of a budget can't be read, by its uid.
	broken map[string]error
}

// readPauses reads what budgets have paused. Documents that can't be read fail their
// own budget alone.
func readPauses(ctx context.Context, s store.Store) (allPauses, error) {
	docs, err := s.List(ctx, store.Pauses)
	if err != nil {
		return allPauses{}, err
	}
	all := allPauses{broken: map[string]error{}}
	for _, doc := range docs {
		uid, _, _ := strings.Cut(doc.Key.Name, "/")
		value, err := record.DecodeListed[declaration.Pauses](ctx, s, doc)
		if err == nil && value.BudgetUID != uid {
			err = fmt.Errorf("the document %s is of the budget with the uid %s", record.DocumentName(s, doc.Key), value.BudgetUID)
		}
		if err != nil {
			all.broken[uid] = err
			continue
		}
		p := all.ofBudget(uid)
		if p == nil {
			p = &pauses{uid: uid, budget: value.Budget, clusterUID: value.ClusterUID}
			all.byBudget = append(all.byBudget, p)
		}
		p.parts = append(p.parts, part{
			name: doc.Key.Name, read: record.Document[declaration.Pauses]{Value: value, Revision: doc.Revision}, workloads: value.Workloads,
		})
	}
	all.byBudget = slices.DeleteFunc(all.byBudget, func(p *pauses) bool { return all.broken[p.uid] != nil })
	return all, nil
}

// ofBudget is what a budget has paused; nil where it has no document.
func (a allPauses) ofBudget(uid string) *pauses {
	n := slices.IndexFunc(a.byBudget, func(p *pauses) bool { return p.uid == uid })
	if n < 0 {
		return nil
	}
	return a.byBudget[n]
}

// workloads are the pauses of all documents.
func (p *pauses) workloads() []declaration.Pause {
	var list []declaration.Pause
	for _, part := range p.parts {
		list = append(list, part.workloads...)
	}
	return list
}

// find is where a workload stands; the part is -1 where it doesn't.
func (p *pauses) find(w budget.Workload) (part, at int) {
	for n, part := range p.parts {
		if at := slices.IndexFunc(part.workloads, func(pause declaration.Pause) bool { return pause.UID == w.UID }); at >= 0 {
			return n, at
		}
	}
	return -1, -1
}

// pauseOf is the pause of a workload; its phase is empty where there is none.
func (p *pauses) pauseOf(w budget.Workload) declaration.Pause {
	n, at := p.find(w)
	if n < 0 {
		return declaration.Pause{}
	}
	return p.parts[n].workloads[at]
}

// set takes up a pause, in the place of what there was of its workload. Nothing is
// written before save.
func (p *pauses) set(pause declaration.Pause) {
	n, at := p.find(pause.Workload)
	if n >= 0 {
		part := &p.parts[n]
		part.workloads, part.changed = slices.Clone(part.workloads), true
		part.workloads[at] = pause
		return
	}
	n = slices.IndexFunc(p.parts, func(part part) bool { return len(part.workloads) < pausesADocument })
	if n < 0 {
		n = len(p.parts)
		p.parts = append(p.parts, part{name: p.unused()})
	}
	part := &p.parts[n]
	part.workloads, part.changed = append(slices.Clip(part.workloads), pause), true
}

// unused is a name for one document more.
func (p *pauses) unused() string {
	name := p.uid
	for n := 1; slices.ContainsFunc(p.parts, func(part part) bool { return part.name == name }); n++ {
		name = fmt.Sprintf("%s/%d", p.uid, n)
	}
	return name
}

// drop takes a pause off. Nothing is written before save.
func (p *pauses) drop(w budget.Workload) {
	n, at := p.find(w)
	if n < 0 {
		return
	}
	part := &p.parts[n]
	part.workloads, part.changed = slices.Delete(slices.Clone(part.workloads), at, at+1), true
}

// save writes the documents that changed, and removes those that nothing is left in.
func (p *pauses) save(ctx context.Context, s store.Store) error {
	for n := range p.parts {
		part := &p.parts[n]
		if !part.changed {
			continue
		}
		var err error
		switch {
		case len(part.workloads) > 0:
			part.read, err = record.Save(ctx, s, store.Pauses, part.name, part.read, declaration.Pauses{
				BudgetUID: p.uid, Budget: p.budget, ClusterUID: p.clusterUID, Workloads: part.workloads,
			})
		case part.read.Exists():
			err = record.Remove(ctx, s, store.Pauses, part.name, part.read.Revision)
			part.read = record.Document[declaration.Pauses]{}
		}
		if err != nil {
			return err
		}
		part.changed = false
	}
	return nil
}
