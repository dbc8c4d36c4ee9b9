package decide

import (
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// warnUndeclared warns of the fields of the pool's Deployment that others wrote, that no
// application removes, and that change as whom, with which privileges, what, or on which
// accelerators its pods run.
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
	r.warnf("its Deployment has what its declaration lacks%s: %s. An apply leaves what others wrote: remove it by kubectl edit deployment/%s -n %s, or "+
		"delete the Deployment and the next run creates it again", by, listed(t.undeclared), of.Name, of.Namespace)
	return t, r
}

// warnUnlike warns of pods that bear what the pool's own do, and that its Deployment did not
// make so: somebody forged them, or changed their image.
func warnUnlike(v View, t Tally) (_ Tally, r Result) {
	var names []string
	for _, p := range v.Observation.Pods {
		if p.Unlike != "" && !p.Ended() {
			names = append(names, p.Name+" ("+p.Unlike+")")
		}
	}
	if n := len(names); n > 0 {
		slices.Sort(names)
		r.warnf("%d %s not as its Deployment makes pods, and %s not count as available: %s. Delete %s, and the Deployment makes others", n,
			wording.Plural(n, "pod is", "pods are"), wording.Plural(n, "does", "do"), wording.Some(names), wording.Plural(n, "it", "them"))
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
