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

// maxInDocument is how many workloads one document contains. A change then rewrites few of them, and
// the longest names and labels fit into an object of the Kubernetes API.
const maxInDocument = 100

// Paused is the workloads that one budget has paused: the documents under its UID, and under its UID and a
// number from 1 on.
type Paused struct {
	UID, ClusterUID string
	budget          string // its name
	parts           []part
}

// part is one document.
type part struct {
	name      string                              // in the store
	read      record.Document[declaration.Pauses] // as last read or written
	workloads []declaration.Pause                 // the current ones
	changed   bool                                // since it was read or written
}

// All is the pauses of all budgets of a store.
type All struct {
	ByBudget []*Paused // in the order of the budgets' UIDs
	// Broken has the errors of documents that cannot be read, by the budget's UID.
	Broken map[string]error
}

// Read reads the pauses of all budgets. A document that cannot be read fails its own budget only.
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

// OfBudget returns the pauses of a budget, or nil if it has no document.
func (a All) OfBudget(uid string) *Paused {
	n := slices.IndexFunc(a.ByBudget, func(p *Paused) bool { return p.UID == uid })
	if n < 0 {
		return nil
	}
	return a.ByBudget[n]
}

// Workloads returns the pauses of all documents.
func (p *Paused) Workloads() []declaration.Pause {
	var list []declaration.Pause
	for _, part := range p.parts {
		list = append(list, part.workloads...)
	}
	return list
}

// find returns the position of a workload; the part is -1 if there is none.
func (p *Paused) find(w budget.Workload) (part, at int) {
	for n, part := range p.parts {
		if at := slices.IndexFunc(part.workloads, func(pause declaration.Pause) bool { return pause.UID == w.UID }); at >= 0 {
			return n, at
		}
	}
	return -1, -1
}

// pauseOf returns the pause of a workload; its phase is empty if there is none.
func (p *Paused) pauseOf(w budget.Workload) declaration.Pause {
	n, at := p.find(w)
	if n < 0 {
		return declaration.Pause{}
	}
	return p.parts[n].workloads[at]
}

// set adds a pause, or replaces that of the same workload. Nothing is written before save.
func (p *Paused) set(pause declaration.Pause) {
	n, at := p.find(pause.Workload)
	if n >= 0 {
		part := &p.parts[n]
		part.workloads, part.changed = slices.Clone(part.workloads), true
		part.workloads[at] = pause
		return
	}
	n = slices.IndexFunc(p.parts, func(part part) bool { return len(part.workloads) < maxInDocument })
	if n < 0 {
		n = len(p.parts)
		p.parts = append(p.parts, part{name: p.unusedName()})
	}
	part := &p.parts[n]
	part.workloads, part.changed = append(slices.Clip(part.workloads), pause), true
}

// unusedName returns the name of the next document.
func (p *Paused) unusedName() string {
	name := p.UID
	for n := 1; slices.ContainsFunc(p.parts, func(part part) bool { return part.name == name }); n++ {
		name = fmt.Sprintf("%s/%d", p.UID, n)
	}
	return name
}

// drop removes a pause. Nothing is written before save.
func (p *Paused) drop(w budget.Workload) {
	n, at := p.find(w)
	if n < 0 {
		return
	}
	part := &p.parts[n]
	part.workloads, part.changed = slices.Delete(slices.Clone(part.workloads), at, at+1), true
}

// save writes the documents that changed, and removes empty ones.
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
