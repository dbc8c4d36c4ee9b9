package stockpool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// FieldManager is the field manager of server-side apply.
const FieldManager = "gpupool-stock"

func hash(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil { // plain values cannot fail
		return ""
	}
	of := sha256.Sum256(text)
	return hex.EncodeToString(of[:16])
}

// Hash hashes all that is applied, except for the replicas.
func (d Declaration) Hash(container string) string {
	all := d.Deployment(container, 0)
	return hash(all.Labels, all.Spec)
}

// fingerprint hashes the fields of a Deployment that the pool manages.
func fingerprint(of *appsv1.Deployment) string {
	return hash(of.UID, of.Labels[LabelPool], of.Labels[labelSpec], of.Labels[labelManagedBy], of.Spec)
}

// Change is one drifted field of a Deployment.
type Change struct {
	// The field, such as `spec.replicas`.
	Field string `json:"field"`
	// The observed value.
	Was string `json:"was"`
	// The declared value.
	Wants string `json:"wants"`
}

// Reason says how the field drifted.
func (c Change) Reason() reason.Reason {
	return reason.FieldDrifted(reason.Word(c.Field), reason.NewValue(c.Was), reason.NewValue(c.Wants))
}
