package drift

import (
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Claim gives fields of a Deployment to the applying manager, whichever manager has them. An
// application removes an omitted field only if no other manager has it. It returns the managed
// fields, and whether they changed.
func Claim(of *appsv1.Deployment, fields []Extra) (managed []metav1.ManagedFieldsEntry, changed bool, err error) {
	own := metav1.ManagedFieldsEntry{
		Manager: stockpool.FieldManager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: appsv1.SchemeGroupVersion.String(), FieldsType: "FieldsV1",
	}
	claimed := map[string]any{}
	for _, entry := range of.ManagedFields {
		var set map[string]any
		if entry.FieldsV1 == nil || entry.Subresource != "" || entry.APIVersion != own.APIVersion {
			managed = append(managed, entry)
			continue
		}
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &set); err != nil {
			return nil, false, fmt.Errorf("the managed fields of %s: %w", entry.Manager, err)
		}
		if entry.Manager == stockpool.FieldManager && entry.Operation == own.Operation {
			own = entry
			own.FieldsV1 = nil
			claimed = set
			continue
		}
		taken := false
		for _, path := range fields {
			taken = take(set, path) || taken
		}
		if !taken {
			managed = append(managed, entry)
			continue
		}
		changed = true
		if len(set) > 0 {
			text, err := json.Marshal(set)
			if err != nil {
				return nil, false, err
			}
			kept := entry
			kept.FieldsV1 = metav1.NewFieldsV1(string(text))
			managed = append(managed, kept)
		}
	}
	for _, path := range fields {
		changed = give(claimed, path) || changed
	}
	text, err := json.Marshal(claimed)
	if err != nil {
		return nil, false, err
	}
	own.FieldsV1 = metav1.NewFieldsV1(string(text))
	return append(managed, own), changed, nil
}

// take removes a field and its empty parents from a set, and reports whether it was there.
func take(set map[string]any, path Extra) bool {
	below, ok := set[path[0]].(map[string]any)
	if !ok || len(path) > 1 && !take(below, path[1:]) {
		return false
	}
	if len(path) == 1 || len(below) == 0 {
		delete(set, path[0])
	}
	return true
}

// give adds a field to a set, and reports whether it was missing.
func give(set map[string]any, path Extra) (lacked bool) {
	below, ok := set[path[0]].(map[string]any)
	if !ok {
		below, lacked = map[string]any{}, true
		set[path[0]] = below
	}
	switch {
	case len(path) > 1:
		return give(below, path[1:]) || lacked
	case strings.HasPrefix(path[0], "k:") && below["."] == nil:
		below["."], lacked = map[string]any{}, true
	}
	return lacked
}
