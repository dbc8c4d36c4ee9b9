package record

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Orphan is an object with documents in the store, and neither a record nor a
// tombstone: its record was lost.
type Orphan struct {
	Object string // "spot_pool/ap-singapore/train"; empty where no document tells
	UID    string // empty where no document tells
	// ClusterUID is the cluster of a budget; empty if no document names it.
	ClusterUID string
	Documents  []store.Key
	// Instances are those of a spot pool that its journal has, and that did not end.
	Instances []string
}

// Reason says what is lost, its consequences, and what to do.
func (o Orphan) Reason() reason.Reason {
	list := reason.NewForeign(o.DocumentNames())
	uid := reason.Word(cmp.Or(o.UID, "unknown"))
	kind, key, _ := strings.Cut(o.Object, "/")
	follows, of := reason.Unmanaged(), store.Key{}
	switch kind {
	case "spot_pool":
		if follows, of.Kind = reason.UnmanagedPool(uid), store.SpotPools; len(o.Instances) > 0 {
			follows = reason.UnmanagedInstances(o.Instances, uid)
		}
	case "budget":
		follows, of.Kind = reason.UnmanagedBudget(), store.Budgets
	case "stock_pool":
		follows, of.Kind = reason.UnmanagedDeployment(), store.StockPools
	}
	document := "its record"
	if of.Kind != "" {
		of.Name = key
		document = of.String()
	}
	if o.Object == "" {
		return reason.UnknownRecordLost(uid, list, follows, reason.NewForeign(document))
	}
	return reason.RecordLost(reason.Object(o.Object), uid, list, follows, reason.NewForeign(document))
}

// DocumentNames lists its documents.
func (o Orphan) DocumentNames() string {
	names := make([]string, len(o.Documents))
	for n, key := range o.Documents {
		names[n] = key.String()
	}
	return strings.Join(names, ", ")
}

// Lister lists the documents of a store, or of what is left of one.
type Lister interface {
	List(ctx context.Context, kind store.Kind) ([]store.Document, error)
}

// Recorded is what has a record, by the UID of any object and the name of a budget. Other
// documents of those are not decoded. Nil functions know none.
type Recorded struct{ UID, Budget func(string) bool }

func (r Recorded) uid(of string) bool { return of != "" && r.UID != nil && r.UID(of) }

// owns reports whether a document's name is enough to know its record. A status belongs to any
// budget of its name.
func (r Recorded) owns(key store.Key) bool {
	name, isBudget := strings.CutPrefix(key.Name, BudgetStatusName(""))
	return r.uid(uidByName(key)) || key.Kind == store.Statuses && isBudget && r.Budget != nil && r.Budget(name)
}

// Orphans finds objects whose records are lost by their other documents.
func Orphans(ctx context.Context, from Lister, recorded Recorded) ([]Orphan, error) {
	return orphans(ctx, from, recorded, store.Journals, store.StockJournals, store.Pauses, store.Grants, store.Holds, store.Statuses)
}

// LostBudgets are the budgets among the orphans.
func LostBudgets(ctx context.Context, from Lister, recorded Recorded) ([]Orphan, error) {
	return orphans(ctx, from, recorded, store.Pauses, store.Grants, store.Statuses)
}

func orphans(ctx context.Context, from Lister, recorded Recorded, kinds ...store.Kind) ([]Orphan, error) {
	found := map[[2]string]*Orphan{}
	for _, kind := range kinds {
		docs, err := from.List(ctx, kind)
		if err != nil {
			return nil, err
		}
		for _, doc := range docs {
			if recorded.owns(doc.Key) {
				continue
			}
			of, owned := ownerOf(doc)
			if !owned || recorded.uid(of.UID) {
				continue
			}
			id := [2]string{of.UID, of.Object}
			if of.UID != "" {
				id[1] = ""
			}
			if found[id] == nil {
				found[id] = &of
				continue
			}
			same := found[id]
			same.Object, same.ClusterUID = cmp.Or(same.Object, of.Object), cmp.Or(same.ClusterUID, of.ClusterUID)
			same.Documents, same.Instances = append(same.Documents, of.Documents...), append(same.Instances, of.Instances...)
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	explained, err := explanations(ctx, from)
	if err != nil {
		return nil, err
	}
	var list []Orphan
	for _, of := range found {
		if !explained.has(of) {
			list = append(list, *of)
		}
	}
	slices.SortFunc(list, func(a, b Orphan) int { return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.UID, b.UID)) })
	return list, nil
}

// uidByName returns the UID of a document's object if its name has it. Journals are large, and
// those of recorded objects are not decoded.
func uidByName(key store.Key) string {
	switch key.Kind {
	case store.Journals:
		return key.Name[strings.LastIndexByte(key.Name, '/')+1:]
	case store.Pauses:
		uid, _, _ := strings.Cut(key.Name, "/")
		return uid
	case store.Statuses:
		return ""
	}
	return key.Name
}

// ownerOf is the object that a document is of, as far as its name and contents tell;
// false for one that is of no object.
func ownerOf(doc store.Document) (of Orphan, owned bool) {
	name := doc.Key.Name
	of.UID, of.Documents = uidByName(doc.Key), []store.Key{doc.Key}
	switch doc.Key.Kind {
	case store.Journals:
		of.Object = "spot_pool/" + name[:max(strings.LastIndexByte(name, '/'), 0)]
		if j, err := declaration.Decode[declaration.Journal](name, doc.Data); err == nil {
			of.Instances = instancesOf(j)
		}
	case store.StockJournals:
		if j, err := declaration.Decode[declaration.StockJournal](name, doc.Data); err == nil {
			of.Object = j.Object
		}
	case store.Pauses:
		if p, err := declaration.Decode[declaration.Pauses](name, doc.Data); err == nil {
			of.Object, of.ClusterUID = "budget/"+p.Budget, p.ClusterUID
		}
	case store.Grants:
		if g, err := declaration.Decode[declaration.Grants](name, doc.Data); err == nil {
			of.Object = "budget/" + g.Budget
		}
	case store.Holds:
		if h, err := declaration.Decode[declaration.Holds](name, doc.Data); err == nil {
			of.Object = "spot_pool/" + h.Pool
		}
	case store.Statuses:
		budget, isBudget := strings.CutPrefix(name, BudgetStatusName(""))
		if !isBudget {
			return of, false
		}
		s, _ := declaration.Decode[declaration.BudgetStatus](name, doc.Data)
		of.Object, of.UID, of.ClusterUID = "budget/"+budget, s.UID, s.ClusterUID
	}
	return of, true
}

// instancesOf are the instances that a journal has, without those that ended.
func instancesOf(j declaration.Journal) []string {
	ids := map[string]bool{}
	for _, k := range j.Known {
		if !k.Ended {
			ids[k.InstanceID] = true
		}
	}
	for _, i := range j.Pending {
		for _, id := range i.Seen {
			ids[id] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// explained has the records and tombstones that explain the documents of an object.
type explained struct {
	uids map[string]bool
	// objects are the names of those with a record or a tombstone; unread those whose UIDs are
	// unreadable.
	objects, unread map[string]bool
}

// has reports whether a document's object is recorded, or was destroyed. A status belongs to
// any budget of its name.
func (e explained) has(of *Orphan) bool {
	byName := of.Documents[0].Kind == store.Statuses
	return e.uids[of.UID] || e.unread[of.Object] || byName && e.objects[of.Object] || of.Object == "" && len(e.unread) > 0
}

// explanations reads records first: what is destroyed has its tombstone before its
// record is removed.
func explanations(ctx context.Context, from Lister) (explained, error) {
	e := explained{uids: map[string]bool{}, objects: map[string]bool{}, unread: map[string]bool{}}
	for _, kind := range []struct {
		kind   store.Kind
		prefix string
		uid    func(what string, data []byte) (string, error)
	}{
		{store.SpotPools, "spot_pool/", uidBy(SpotPools(Repository{}))},
		{store.Budgets, "budget/", uidBy(Budgets(Repository{}))},
		{store.StockPools, "stock_pool/", uidBy(StockPools(Repository{}))},
	} {
		docs, err := from.List(ctx, kind.kind)
		if err != nil {
			return e, err
		}
		for _, doc := range docs {
			object := kind.prefix + doc.Key.Name
			e.objects[object] = true
			uid, err := kind.uid(doc.Key.String(), doc.Data)
			if err != nil {
				e.unread[object] = true
				continue
			}
			e.uids[uid] = true
		}
	}
	docs, err := from.List(ctx, store.Tombstones)
	for _, doc := range docs {
		e.uids[doc.Key.Name] = true
		if t, err := declaration.Decode[declaration.Tombstone](doc.Key.String(), doc.Data); err == nil {
			e.objects[t.Object] = true
		}
	}
	return e, err
}

func uidBy[D Declaration[D]](l Lifecycle[D]) func(what string, data []byte) (string, error) {
	return func(what string, data []byte) (string, error) {
		r, err := l.decode(what, data)
		if err != nil {
			return "", err
		}
		uid, _ := r.Declaration.Identity()
		return uid, nil
	}
}
