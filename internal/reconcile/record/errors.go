package record

import (
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// ExistsError reports that something cannot be created because it exists.
type ExistsError struct {
	Title, Noun, Key string // "spot pool", "pool", "ap-singapore/train"
	What             string // "the store … has a record of it", "2 instances …"
	Deleting         bool   // its deletion has begun
}

// Because names the thing, what was found, and the import that takes it over, or else that its deletion is to be finished.
func (e *ExistsError) Because() reason.Reason {
	if e.Deleting {
		return reason.StillExists(reason.Word(e.Title), reason.Word(e.Key), reason.NewForeign(e.What))
	}
	return reason.AlreadyExists(reason.Word(e.Title), reason.Word(e.Key), reason.NewForeign(e.What), reason.Word(e.Noun))
}

// Error is Because as text.
func (e *ExistsError) Error() string { return e.Because().String() }

// AbsentError reports that the store has nothing of a name.
type AbsentError struct {
	Title, Key, Store string
	Known             []string // the names of those that it has
}

// Error names what is missing, the store, and what there is instead.
func (e *AbsentError) Error() string {
	if len(e.Known) == 0 {
		return e.text() + ": use the store that it was declared in"
	}
	return e.text()
}

func (e *AbsentError) text() string {
	text := fmt.Sprintf("the store %s has no %s %q", e.Store, e.Title, e.Key)
	if len(e.Known) == 0 {
		return text + ", and no other"
	}
	if nearest := wording.Nearest(e.Key, e.Known); nearest != "" {
		return fmt.Sprintf("%s: did you mean %q? It has %s", text, nearest, strings.Join(e.Known, ", "))
	}
	return text + "; it has " + strings.Join(e.Known, ", ")
}

// UndeclaredError reports that a pool names a budget without a record in its store.
type UndeclaredError struct{ Absent *AbsentError }

// Because names the budget, the store, and the budgets that it has.
func (e *UndeclaredError) Because() reason.Reason {
	return reason.BudgetNotDeclared(reason.NewForeign(e.Absent.text()))
}

// Error is Because as text, without the remedy, since an apply may declare the budget next.
func (e *UndeclaredError) Error() string { return e.Absent.text() }

// DeclaredTogether explains an undeclared budget during an apply: Terraform creates unrelated
// resources in any order, so the budget may be next.
var DeclaredTogether = reason.DeclaredTogether().String()

// Unwrap returns the error of the search.
func (e *UndeclaredError) Unwrap() error { return e.Absent }

// Advice is the remedy for people.
func (e *UndeclaredError) Advice() string {
	return "Declare the budget, or name another or none in the pool."
}

// LostError reports that a store has neither a record nor a tombstone of something in a
// Terraform state.
type LostError struct {
	Title, Key, UID, Store string
	// Other is the store that the state names; empty if that is this one or unknown.
	// Cluster is the uid of its cluster, if only that differs.
	Other, Cluster string
}

// Error names the thing, the store or both stores, and the ways out.
func (e *LostError) Error() string {
	text := fmt.Sprintf("the store %s has neither a record nor a tombstone of the %s %s (uid %s), and nothing was changed", e.Store, e.Title, e.Key, e.UID)
	const forget = "terraform state rm ADDRESS only removes it from this state"
	if e.Other == "" {
		return text + ". Use the store that it was recorded in: the provider's argument store, or GPUPOOL_STORE. If its record is lost, restore it from a " +
			"backup, or record it again with terraform apply before you destroy it. " + forget
	}
	if e.Cluster != "" {
		return text + fmt.Sprintf(". The Terraform state remembers the store of that name in another cluster. Use its kubeconfig and context: "+
			"the uid of its namespace kube-system is %s. ", e.Cluster) + forget
	}
	return text + fmt.Sprintf(". The Terraform state remembers the store %[1]s: use that one, or move it with gpupool store move %[1]s %[2]s. If "+
		"it is lost, record the state's declarations in this store with gpupool reconcile --from-state FILE --store %[2]s. ", e.Other, e.Store) + forget
}

// Taken reports that a recorded stock pool has the name of a requested one. The error is
// *request.ManagedError if Terraform manages that pool, else *request.ExistsError.
func Taken(d stockpool.Declaration) error {
	if d.Requested() {
		return &request.ExistsError{Object: d.Object(), Owner: d.Owner}
	}
	return &request.ManagedError{Object: d.Object(), Address: "resource gpupool_stock_pool, name " + d.Name}
}
