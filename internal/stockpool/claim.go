package stockpool

import (
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Claim gives these fields of a Deployment to the applying manager, whichever other one has them: an
// application removes what it does not have any longer only if no other manager has it. It
// returns the managed fields, and whether they are others than before.
func Claim(of *appsv1.Deployment, fields []Extra) (managed []metav1.ManagedFieldsEntry, changed bool, err error) {
	own := metav1.ManagedFieldsEntry{
		Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: appsv1.SchemeGroupVersion.String(), FieldsType: "FieldsV1",
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
		if entry.Manager == FieldManager && entry.Operation == own.Operation {
			own = entry
			own.FieldsV1 = nil
			claimed = set
			continue
		}
		before := sum(set)
		for _, path := range fields {
			take(set, path)
		}
		if sum(set) == before {
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
	before := sum(claimed)
	for _, path := range fields {
		give(claimed, path)
	}
	changed = changed || sum(claimed) != before
	text, err := json.Marshal(claimed)
	if err != nil {
		return nil, false, err
	}
	own.FieldsV1 = metav1.NewFieldsV1(string(text))
	return append(managed, own), changed, nil
}

// take removes a field from a set, and what is empty then.
func take(set map[string]any, path Extra) {
	below, ok := set[path[0]].(map[string]any)
	if !ok {
		return
	}
	if len(path) == 1 {
		delete(set, path[0])
		return
	}
	before := len(below)
	if take(below, path[1:]); len(below) == 0 && before > 0 {
		delete(set, path[0])
	}
}

// give adds a field to a set.
func give(set map[string]any, path Extra) {
	below, ok := set[path[0]].(map[string]any)
	if !ok {
		below = map[string]any{}
		set[path[0]] = below
	}
	if len(path) > 1 {
		give(below, path[1:])
	} else if strings.HasPrefix(path[0], "k:") {
		below["."] = map[string]any{}
	}
}
