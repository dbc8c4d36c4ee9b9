package cluster

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// freezeVariables are evaluated lazily, in the order of their first use. Those of the old pod are only for
// updates.
func freezeVariables() []admissionv1.Variable {
	const (
		selector = "params.spec.matchResources.objectSelector"
		recovers = "params.metadata.annotations['" + annotationRecovers + "']"
	)
	selects := func(field, nothing string) string {
		return "has(params.spec.matchResources) && has(" + selector + ") && has(" + selector + "." + field + ") ? " + selector + "." + field + " : " + nothing
	}
	return slices.Concat([]admissionv1.Variable{
		{Name: "counted", Expression: names(annotationCounted)},
		{Name: "ignored", Expression: names(annotationIgnored)},
		{Name: "exact", Expression: CELTexts(frozenResources...) + ".filter(n, !(n in variables.ignored)) + variables.counted"},
		// Whether claims count: the pod does not contain their devices.
		{Name: "devices", Expression: "!" + CELTexts(gpu.Drivers()...) + ".all(d, d in variables.ignored) || variables.counted.exists(d, d.contains('.') " +
			"&& !d.contains('/'))"},
		{Name: "matchLabels", Expression: selects("matchLabels", "{}")},
		{Name: "matchExpressions", Expression: selects("matchExpressions", "[]")},
	}, podVariables("object", ""), podVariables("oldObject", before), []admissionv1.Variable{
		{Name: "honored", Expression: "!(" + marked("params", "annotations",
			annotationProtection) + ") || params.metadata.annotations['" + annotationProtection + "'] != 'false'"},
		{Name: "spared", Expression: isProtected("namespaceObject") + " || variables.honored && (" + isProtected("object") + ")"},
		// The API server asks about an update where the selector matches the pod as it
		// is, or as it was.
		{Name: "left", Expression: "request.operation == 'UPDATE' && !variables.selected"},
		// A crowd is not searched: that it asks by annotation is all that an update of
		// it can have changed.
		{Name: "waited", Expression: "request.operation == 'UPDATE' && variables.selectedBefore && " +
			"(variables.claimsBefore || variables.sharesBefore || (variables.crowdedBefore ? !variables.shares : variables.asksBefore))"},
		{Name: "budget", Expression: marked("params", "annotations",
			annotationBudget) + " ? params.metadata.annotations['" + annotationBudget + "'] : params.metadata.name"},
		{Name: "recovers", Expression: marked("params", "annotations",
			annotationRecovers) + " && " + recovers + " != '' ? ', by itself at about ' + " + recovers + " + ' if nothing more is used' : ''"},
	})
}

// before ends the names of what is said of a pod as it was.
const before = "Before"

// podVariables say of a pod whether a freeze selects it, and by what it asks for GPUs.
func podVariables(pod, when string) []admissionv1.Variable {
	spec, labels := pod+".spec", "variables.labels"+when
	named := func(field string) string {
		return fmt.Sprintf("has(c.resources.%[1]s) && size(c.resources.%[1]s) > %[2]d", field, mostNamed)
	}
	list := []admissionv1.Variable{
		{Name: "labels", Expression: "has(" + pod + ".metadata.labels) ? " + pod + ".metadata.labels : {}"},
		{Name: "selected", Expression: "variables.matchLabels.all(k, k in " + labels + " && " + labels + "[k] == variables.matchLabels[k])" +
			" && variables.matchExpressions.all(e, e.operator in ['In', 'Exists'] ?" +
			" e.key in " + labels + " && (e.operator == 'Exists' || " + labels + "[e.key] in e.values) :" +
			" !(e.key in " + labels + ") || e.operator == 'NotIn' && !(" + labels + "[e.key] in e.values))"},
		{Name: "count", Expression: "size(" + spec + ".containers) + (has(" + spec + ".initContainers) ? size(" + spec + ".initContainers) : 0)"},
		{Name: "containers", Expression: spec + ".containers + (has(" + spec + ".initContainers) ? " + spec + ".initContainers : [])"},
		{Name: "crowded", Expression: fmt.Sprintf("variables.count%[1]s > %[2]d || variables.containers%[1]s.exists(c, has(c.resources) && (%[3]s || %[4]s))",
			when, mostContainers, named("limits"), named("requests"))},
		{Name: "claims", Expression: "variables.devices && has(" + spec + ".resourceClaims) && size(" + spec + ".resourceClaims) > 0"},
		{Name: "shares", Expression: "!('gpu-fraction' in variables.ignored) && (" + marked(pod, "annotations", "gpu-fraction") + " || " + marked(pod,
			"annotations", "gpu-memory") + ")"},
		{Name: "asks", Expression: "variables.containers" + when + ".exists(c, has(c.resources) && (" + asks("c.resources",
			"limits") + " || " + asks("c.resources", "requests") + "))" +
			" || " + asks(spec, "overhead")},
	}
	for n := range list {
		list[n].Name += when
	}
	return list
}

// marked is true of an object that has a label or annotation of this name.
func marked(object, field, key string) string {
	all := object + ".metadata." + field
	return "has(" + all + ") && '" + key + "' in " + all
}

// isProtected is true of an object with the annotation or label that protects it.
func isProtected(object string) string {
	by := func(field string) string {
		return marked(object, field, budget.ProtectedKey) + " && " + object + ".metadata." + field + "['" + budget.ProtectedKey + "'] != 'false'"
	}
	return "(" + by("annotations") + " || " + by("labels") + ")"
}

// names are the names in an annotation of the slot.
func names(annotation string) string {
	list := "params.metadata.annotations['" + annotation + "']"
	return marked("params", "annotations", annotation) + " && " + list + " != '' ? " + list + ".split(',') : []"
}

// CELTexts is a list of texts as CEL has it. None may have a quote in it.
func CELTexts(list ...string) string { return "['" + strings.Join(list, "', '") + "']" }

// asks is true of quantities that name more than zero of a resource that counts.
// Known names are looked up, however many there are; only what is known by its
// beginning is sought.
func asks(object, field string) string {
	quantities := object + "." + field
	var begins []string
	for _, prefix := range frozenPrefixes {
		begins = append(begins, "r.startsWith('"+prefix+"')")
	}
	return "has(" + quantities + ") && (" +
		"variables.exact.exists(n, n in " + quantities + " && string(" + quantities + "[n]) != '0')" +
		" || " + quantities + ".exists(r, (" + strings.Join(begins,
		" || ") + " || variables.devices && r.startsWith('" + frozenClasses + "') && r.contains('gpu'))" +
		" && string(" + quantities + "[r]) != '0' && !(r in variables.ignored)))"
}
