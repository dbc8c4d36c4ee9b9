package decide

import (
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// warnUndeclared warns of foreign fields of the Deployment that no application removes. They
// may change the identity, the privileges, the programs or the accelerators of its pods.
func warnUndeclared(v View, t Tally) (_ Tally, r Result) {
	of := v.Observation.Deployment
	t.undeclared = drift.Undeclared(of, v.Declaration.Desired(of, v.Journal.Container, 0))
	if len(t.undeclared) == 0 {
		return t, r
	}
	by := ""
	if names := drift.ChangedBy(of, t.undeclared); len(names) > 0 {
		by = ", last written by " + strings.Join(names, ", ")
	}
	r.warnf("its Deployment has undeclared fields%s: %s. An apply does not remove them. Run kubectl edit deployment/%s -n %s, or "+
		"delete the Deployment; the next run creates it again", by, listed(t.undeclared), of.Name, of.Namespace)
	return t, r
}

// warnUnlike warns of pods that carry the pool's labels but differ from its Deployment's
// template: they are forged, or their image was changed.
func warnUnlike(v View, t Tally) (_ Tally, r Result) {
	var names []string
	for _, p := range v.Observation.Pods {
		if p.Mismatch != "" && !p.Ended() {
			names = append(names, p.Name+" ("+p.Mismatch+")")
		}
	}
	if n := len(names); n > 0 {
		slices.Sort(names)
		r.warnf("%d %s from its Deployment's template, and %s not count as available: %s. Delete %s; the Deployment creates others", n,
			wording.Plural(n, "pod differs", "pods differ"), wording.Plural(n, "does", "do"), wording.Some(names), wording.Plural(n, "it", "them"))
	}
	return t, r
}

// listed are fields with what they are.
func listed(fields []stockpool.Change) string {
	var texts []string
	for _, c := range fields {
		text := c.Field
		if c.Was != "" {
			text += " = " + c.Was
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}
