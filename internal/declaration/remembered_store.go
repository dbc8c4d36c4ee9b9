package declaration

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// StoreKey is the key of a RememberedStore in the private state of a resource.
const StoreKey = "store"

// RememberedStore is the store that last had the record of an object, as a Terraform state
// remembers it; empty if it remembers none.
type RememberedStore struct {
	Store string `json:"store"` // its absolute location
	// Cluster is the uid of the namespace kube-system; empty for a directory, and if it
	// could not be read.
	Cluster string `json:"cluster,omitempty"`
}

// Same reports whether both are one store. What is not known of a cluster does not differ.
func (s RememberedStore) Same(other RememberedStore) bool {
	return s.Store == other.Store && (s.Cluster == "" || other.Cluster == "" || s.Cluster == other.Cluster)
}

// storeOf is the store that a private state remembers: base64 of keys with their values, as the
// provider's framework has Terraform keep it.
func storeOf(private string) (s RememberedStore) {
	var keys map[string][]byte
	text, err := base64.StdEncoding.DecodeString(private)
	if err != nil || json.Unmarshal(text, &keys) != nil || json.Unmarshal(keys[StoreKey], &s) != nil {
		return RememberedStore{}
	}
	return s
}

// String is how people name the store.
func (s RememberedStore) String() string {
	if s.Cluster == "" {
		return s.Store
	}
	return fmt.Sprintf("%s of the cluster whose namespace kube-system has the uid %s", s.Store, s.Cluster)
}

// LeaveToOthers drops the objects that remember another store, if some remember this one. A
// configuration with several providers has several stores, and two stores with one object would
// both act on it. If no object remembers this store, the state is recorded in a new store.
func (s *TerraformState) LeaveToOthers(here RememberedStore) {
	if !remembers(s.Pools, here) && !remembers(s.Budgets, here) && !remembers(s.StockPools, here) && !remembers(s.Notifications, here) {
		return
	}
	left := map[string][]string{} // addresses by store
	s.Pools = leave(left, s.Pools, here)
	s.Budgets = leave(left, s.Budgets, here)
	s.StockPools = leave(left, s.StockPools, here)
	s.Notifications = leave(left, s.Notifications, here)
	for _, other := range slices.Sorted(maps.Keys(left)) {
		s.Warnings = append(s.Warnings, reason.OfOtherStore(left[other], reason.NewForeign(printable.Line(other))))
	}
}

func remembers[D any](list []StateResource[D], here RememberedStore) bool {
	return slices.ContainsFunc(list, func(r StateResource[D]) bool { return r.Store.Store != "" && r.Store.Same(here) })
}

func leave[D any](left map[string][]string, list []StateResource[D], here RememberedStore) []StateResource[D] {
	return slices.DeleteFunc(slices.Clone(list), func(r StateResource[D]) bool {
		other := r.Store.Store != "" && !r.Store.Same(here)
		if other {
			left[r.Store.String()] = append(left[r.Store.String()], r.Address)
		}
		return other
	})
}
