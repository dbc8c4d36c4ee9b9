package decide

import (
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// warnUndeclared warns of foreign fields of the Deployment that no application removes. They
// may change the identity, the privileges, the programs or the accelerators of its pods.
func warnUndeclared(v View, t Tally) (_ Tally, r Result) {
	of := v.Observation.Deployment
	t.undeclared = drift.Undeclared(of, v.Declaration.Desired(of, v.Journal.Container, 0))
	if len(t.undeclared) == 0 {
		return t, r
	}
	fields := reason.UndeclaredFields(undeclaredFields(t.undeclared))
	if by := drift.ChangedBy(of, t.undeclared); len(by) > 0 {
		fields = reason.UndeclaredFieldsBy(by, undeclaredFields(t.undeclared))
	}
	r.warn(reason.UndeclaredFieldsStay(fields, reason.Word(of.Name), reason.Word(of.Namespace)))
	return t, r
}

// warnUnlike warns of pods that carry the pool's labels but differ from its Deployment's
// template: they are forged, or their image was changed.
func warnUnlike(v View, t Tally) (_ Tally, r Result) {
	pods := slices.DeleteFunc(slices.Clone(v.Observation.Pods), func(p stockpool.Pod) bool { return p.Mismatch == "" || p.Ended() })
	slices.SortFunc(pods, func(a, b stockpool.Pod) int { return strings.Compare(a.Name, b.Name) })
	var list reason.Some
	for _, p := range pods {
		list = append(list, reason.UnlikePod(reason.Word(p.Name), reason.NewValue(p.Mismatch)))
	}
	if n := len(list); n > 0 {
		r.warn(reason.PodsUnlike(reason.Count(n), list))
	}
	return t, r
}

// undeclaredFields are fields with their values, if those are plain.
func undeclaredFields(fields []stockpool.Change) (list reason.Facts) {
	for _, c := range fields {
		of := reason.UndeclaredField(reason.Word(c.Field))
		if c.Was != "" {
			of = reason.UndeclaredValue(reason.Word(c.Field), reason.NewValue(c.Was))
		}
		list = append(list, of)
	}
	return list
}
