package stockpool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// FieldManager is whose fields those of the pool's Deployments are.
const FieldManager = "gpupool-stock"

// sum is one over what can be JSON.
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

// Fingerprint is a sum over what people and controllers could change of a Deployment
// that the pool has a say in.
func Fingerprint(of *appsv1.Deployment) string {
	return sum(of.UID, of.Labels[LabelPool], of.Labels[LabelSpec], of.Labels[LabelManagedBy], of.Spec)
}

// Change is one field of a Deployment that is not as declared.
type Change struct {
	Field string `json:"field"` // "spec.replicas"
	Was   string `json:"was"`
	Wants string `json:"wants"`
}

// String writes the change for people.
func (c Change) String() string {
	return fmt.Sprintf("%s was %s instead of %s", c.Field, c.Was, c.Wants)
}

// Changes are the fields in which a Deployment differs from what an application would
// make of it. No value is told of an environment variable, an argument or a command:
// they may be secret.
func Changes(was, wants *appsv1.Deployment) []Change {
	var list []Change
	differ("metadata.labels", plain(was.Labels), plain(wants.Labels), &list)
	differ("spec", plain(was.Spec), plain(wants.Spec), &list)
	return list
}

// plain is a value as JSON has it.
func plain(value any) any {
	text, err := json.Marshal(value)
	var out any
	if err != nil || json.Unmarshal(text, &out) != nil {
		return nil
	}
	return out
}

func differ(at string, was, wants any, list *[]Change) {
	a, mapA := was.(map[string]any)
	b, mapB := wants.(map[string]any)
	if mapA && mapB {
		keys := maps.Clone(a)
		maps.Copy(keys, b)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			differ(at+"."+key, a[key], b[key], list)
		}
		return
	}
	x, listA := was.([]any)
	y, listB := wants.([]any)
	if listA && listB && len(x) == len(y) {
		for n := range x {
			differ(fmt.Sprintf("%s[%d]", at, n), x[n], y[n], list)
		}
		return
	}
	if told, wanted := sum(was), sum(wants); told != wanted {
		*list = append(*list, Change{Field: at, Was: shown(at, was), Wants: shown(at, wants)})
	}
}

// secretive are the parts of a container of which no value is told.
var secretive = []string{".env", ".args", ".command"}

func shown(at string, value any) string {
	if value == nil {
		return "nothing"
	}
	for _, part := range secretive {
		if strings.Contains(at, part) {
			return "another"
		}
	}
	text, err := json.Marshal(value)
	if err != nil || len(text) > 120 {
		return "another"
	}
	return strings.Trim(string(text), `"`)
}

// changedBy names those who last wrote some of the fields that changed, by the managed
// fields of the Deployment, with the way in which they did.
func changedBy(of *appsv1.Deployment, changes []Change) []string {
	var names []string
	for w, fields := range writers(of) {
		if w.Manager == FieldManager || !slices.ContainsFunc(changes, func(c Change) bool { return manages(fields, strings.Split(c.Field, ".")) }) {
			continue
		}
		name := w.String()
		if !w.At.IsZero() {
			name += " at " + w.At.Format("2006-01-02T15:04:05Z")
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// manages says whether managed fields have a field, or something in it. How they name
// the members of a list is not followed: what has the list has the member.
func manages(fields map[string]any, way []string) bool {
	for _, step := range way {
		name, _, member := strings.Cut(step, "[")
		below, has := fields["f:"+name].(map[string]any)
		if !has {
			return false
		}
		if fields = below; member {
			return true
		}
	}
	return true
}
