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

// holdsADocument is how many workloads stand in one document. All of a tenant's are
// never written anew because of one, and the longest names and labels that are kept
// of so many fit into an object of the Kubernetes API.
const holdsADocument = 100

// holds is what one budget holds paused: the document under its uid, and as many
// more as it takes, under its uid and a number from 1 on.
type holds struct {
	uid, budget, clusterUID string
	parts                   []part
}

// part is one document of them.
type part struct {
	name    string // in the store
	read    record.Document[declaration.Pauses]
	list    []declaration.Pause
	changed bool // since it was read or written
}

// held is what all budgets of a store hold paused.
type held struct {
	list []*holds // by the budgets' uids
	// broken says why the documents of a budget can't be read, by its uid.
	broken map[string]error
}

// held reads what budgets hold paused. Documents that can't be read fail their own
// budget alone.
func (f *Flow) held(ctx context.Context) (held, error) {
	docs, err := f.Keeper.Store.List(ctx, store.Pauses)
	if err != nil {
		return held{}, err
	}
	all := held{broken: map[string]error{}}
	for _, doc := range docs {
		uid, _, _ := strings.Cut(doc.Key.Name, "/")
		p, err := record.DecodeListed[declaration.Pauses](ctx, f.Keeper.Store, doc)
		if err == nil && p.BudgetUID != uid {
			err = fmt.Errorf("the document %s is of the budget with the uid %s", record.DocumentName(f.Keeper.Store, doc.Key), p.BudgetUID)
		}
		if err != nil {
			all.broken[uid] = err
			continue
		}
		h := all.of(uid)
		if h == nil {
			h = &holds{uid: uid, budget: p.Budget, clusterUID: p.ClusterUID}
			all.list = append(all.list, h)
		}
		h.parts = append(h.parts, part{name: doc.Key.Name, read: record.Document[declaration.Pauses]{Value: p, Revision: doc.Revision}, list: p.Workloads})
	}
	all.list = slices.DeleteFunc(all.list, func(h *holds) bool { return all.broken[h.uid] != nil })
	return all, nil
}

// of is what a budget holds; nil where it has no document.
func (a held) of(uid string) *holds {
	n := slices.IndexFunc(a.list, func(h *holds) bool { return h.uid == uid })
	if n < 0 {
		return nil
	}
	return a.list[n]
}

// all are the holds of all documents.
func (h *holds) all() []declaration.Pause {
	var list []declaration.Pause
	for _, p := range h.parts {
		list = append(list, p.list...)
	}
	return list
}

// find is where a workload stands; the part is -1 where it doesn't.
func (h *holds) find(w budget.Workload) (part, at int) {
	for n, p := range h.parts {
		if at := slices.IndexFunc(p.list, func(hold declaration.Pause) bool { return hold.UID == w.UID }); at >= 0 {
			return n, at
		}
	}
	return -1, -1
}

// of is what is held of a workload; its phase is empty where nothing is.
func (h *holds) of(w budget.Workload) declaration.Pause {
	n, at := h.find(w)
	if n < 0 {
		return declaration.Pause{}
	}
	return h.parts[n].list[at]
}

// set holds a workload, in the place of what there was of it. Nothing is written
// before save.
func (h *holds) set(hold declaration.Pause) {
	n, at := h.find(hold.Workload)
	if n >= 0 {
		p := &h.parts[n]
		p.list, p.changed = slices.Clone(p.list), true
		p.list[at] = hold
		return
	}
	n = slices.IndexFunc(h.parts, func(p part) bool { return len(p.list) < holdsADocument })
	if n < 0 {
		n = len(h.parts)
		h.parts = append(h.parts, part{name: h.unused()})
	}
	p := &h.parts[n]
	p.list, p.changed = append(slices.Clip(p.list), hold), true
}

// unused is a name for one document more.
func (h *holds) unused() string {
	name := h.uid
	for n := 1; slices.ContainsFunc(h.parts, func(p part) bool { return p.name == name }); n++ {
		name = fmt.Sprintf("%s/%d", h.uid, n)
	}
	return name
}

// drop takes a hold off. Nothing is written before save.
func (h *holds) drop(w budget.Workload) {
	n, at := h.find(w)
	if n < 0 {
		return
	}
	p := &h.parts[n]
	p.list, p.changed = slices.Delete(slices.Clone(p.list), at, at+1), true
}

// save writes the documents that changed, and removes those that nothing is left in.
func (h *holds) save(ctx context.Context, s store.Store) error {
	for n := range h.parts {
		p := &h.parts[n]
		if !p.changed {
			continue
		}
		var err error
		switch {
		case len(p.list) > 0:
			p.read, err = record.Save(ctx, s, store.Pauses, p.name, p.read, declaration.Pauses{
				BudgetUID: h.uid, Budget: h.budget, ClusterUID: h.clusterUID, Workloads: p.list,
			})
		case p.read.Exists():
			err = record.Remove(ctx, s, store.Pauses, p.name, p.read.Revision)
			p.read = record.Document[declaration.Pauses]{}
		}
		if err != nil {
			return err
		}
		p.changed = false
	}
	return nil
}
