package stockpool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
)

// FieldManager is the manager of the fields that gpupool applies.
const FieldManager = "gpupool-stock"

func sum(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil { // of plain values there is none
		return ""
	}
	of := sha256.Sum256(text)
	return hex.EncodeToString(of[:16])
}

// Sum is a sum over all that is applied, but for the replicas.
func (d Declaration) Sum(container string) string {
	all := d.Deployment(container, 0)
	return sum(all.Labels, all.Spec)
}

// fingerprint is a sum over what people and controllers could change of a Deployment
// that the pool has a say in.
func fingerprint(of *appsv1.Deployment) string {
	return sum(of.UID, of.Labels[LabelPool], of.Labels[labelSpec], of.Labels[labelManagedBy], of.Spec)
}

// Change is one field of a Deployment that is not as declared.
type Change struct {
	// The field, such as `spec.replicas`.
	Field string `json:"field"`
	// The observed value.
	Was string `json:"was"`
	// The declared value.
	Wants string `json:"wants"`
}

// String writes the change for people.
func (c Change) String() string {
	return fmt.Sprintf("%s was %s instead of %s", c.Field, c.Was, c.Wants)
}
