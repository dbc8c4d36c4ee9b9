package pauses

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

// Paused is what one budget has paused: the document under its uid, and as many
// more as it takes, under its uid and a number from 1 on.
type Paused struct {
	UID, ClusterUID string
	budget          string // its name
	parts           []part
}

// part is one document of them.
type part struct {
	name      string                              // in the store
	read      record.Document[declaration.Pauses] // or written last
	workloads []declaration.Pause                 // of now
	changed   bool                                // since it was read or written
}

// All is what all budgets of a store have paused.
type All struct {
	ByBudget []*Paused // in the order of the budgets' uids
	// Broken says why the documents of a budget can't be read, by its uid.
	Broken map[string]error
}

// Read reads what budgets have paused. Documents that can't be read fail their
// own budget alone.
func Read(ctx context.Context, s store.Store) (All, error) {
	docs, err := s.List(ctx, store.Pauses)
	if err != nil {
		return All{}, err
	}
	all := All{Broken: map[string]error{}}
	for _, doc := range docs {
		uid, _, _ := strings.Cut(doc.Key.Name, "/")
		value, err := record.DecodeListed[declaration.Pauses](ctx, s, doc)
		if err == nil && value.BudgetUID != uid {
			err = fmt.Errorf("the document %s is of the budget with the uid %s", record.DocumentName(s, doc.Key), value.BudgetUID)
		}
		if err != nil {
			all.Broken[uid] = err
			continue
		}
		p := all.OfBudget(uid)
		if p == nil {
			p = &Paused{UID: uid, budget: value.Budget, ClusterUID: value.ClusterUID}
			all.ByBudget = append(all.ByBudget, p)
		}
		p.parts = append(p.parts, part{
			name: doc.Key.Name, read: record.Document[declaration.Pauses]{Value: value, Revision: doc.Revision}, workloads: value.Workloads,
		})
	}
	all.ByBudget = slices.DeleteFunc(all.ByBudget, func(p *Paused) bool { return all.Broken[p.UID] != nil })
	return all, nil
}

// OfBudget is what a budget has paused; nil where it has no document.
func (a All) OfBudget(uid string) *Paused {
	n := slices.IndexFunc(a.ByBudget, func(p *Paused) bool { return p.UID == uid })
	if n < 0 {
		return nil
	}
	return a.ByBudget[n]
}

// Workloads are the pauses of all documents.
func (p *Paused) Workloads() []declaration.Pause {
	var list []declaration.Pause
	for _, part := range p.parts {
		list = append(list, part.workloads...)
	}
	return list
}

// find is where a workload stands; the part is -1 where it doesn't.
func (p *Paused) find(w budget.Workload) (part, at int) {
	for n, part := range p.parts {
		if at := slices.IndexFunc(part.workloads, func(pause declaration.Pause) bool { return pause.UID == w.UID }); at >= 0 {
			return n, at
		}
	}
	return -1, -1
}

// pauseOf is the pause of a workload; its phase is empty where there is none.
func (p *Paused) pauseOf(w budget.Workload) declaration.Pause {
	n, at := p.find(w)
	if n < 0 {
		return declaration.Pause{}
	}
	return p.parts[n].workloads[at]
}

// set takes up a pause, in the place of what there was of its workload. Nothing is
// written before save.
func (p *Paused) set(pause declaration.Pause) {
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
func (p *Paused) unused() string {
	name := p.UID
	for n := 1; slices.ContainsFunc(p.parts, func(part part) bool { return part.name == name }); n++ {
		name = fmt.Sprintf("%s/%d", p.UID, n)
	}
	return name
}

// drop takes a pause off. Nothing is written before save.
func (p *Paused) drop(w budget.Workload) {
	n, at := p.find(w)
	if n < 0 {
		return
	}
	part := &p.parts[n]
	part.workloads, part.changed = slices.Delete(slices.Clone(part.workloads), at, at+1), true
}

// save writes the documents that changed, and removes those that nothing is left in.
func (p *Paused) save(ctx context.Context, s store.Store) error {
	for n := range p.parts {
		part := &p.parts[n]
		if !part.changed {
			continue
		}
		var err error
		switch {
		case len(part.workloads) > 0:
			part.read, err = record.Save(ctx, s, store.Pauses, part.name, part.read, declaration.Pauses{
				BudgetUID: p.UID, Budget: p.budget, ClusterUID: p.ClusterUID, Workloads: part.workloads,
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
