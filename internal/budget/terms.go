package budget

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Terms are the same for declarations by which the same usage is exceeded or not:
// of one limit, in one window, of the same pods with the same weights.
func (d Declaration) Terms() string { return d.terms(d.GPUHours) }

// counted are the same for declarations by which the same is used.
func (d Declaration) counted() string { return d.terms("") }

func (d Declaration) terms(limit string) string {
	d = d.WithDefaults()
	text, err := json.Marshal([]any{
		d.UID, d.ClusterUID, limit, d.Window, d.Period, d.TimeZone, d.Selector.key(), d.CountFrom, d.VanishedPods,
		d.ResourceWeights, d.ModelWeights,
	})
	if err != nil { // of strings and maps of them there is none
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
