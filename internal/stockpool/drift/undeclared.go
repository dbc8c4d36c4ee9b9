package drift

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Undeclared returns the foreign fields of a Deployment that an application leaves and that may
// matter. Such fields change the identity, privileges, programs or accelerators of its pods.
// Defaults of the API server and harmless fields are omitted; an unknown field is reported. So
// are Extras, since an application removes those.
func Undeclared(of, wanted *appsv1.Deployment) []stockpool.Change {
	rest := Without(of, Extras(of, wanted))
	if rest == nil {
		return nil
	}
	if pod := &rest.Spec.Template.Spec; pod.DeprecatedServiceAccount == pod.ServiceAccountName {
		pod.DeprecatedServiceAccount = "" // the API server writes it
	}
	u := undeclared{}
	u.compare("spec.template.spec", plain(rest.Spec.Template.Spec), plain(wanted.Spec.Template.Spec))
	for key := range rest.Spec.Template.Annotations {
		if key != restartedAt {
			u.add("spec.template.metadata.annotations."+key, nil)
		}
	}
	if s := rest.Spec.Strategy.Type; s == appsv1.RecreateDeploymentStrategyType {
		u.add("spec.strategy.type", string(s))
	}
	slices.SortFunc(u.list, func(a, b stockpool.Change) int { return strings.Compare(a.Field, b.Field) })
	return u.list
}

// kubectl rollout restart sets it.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

type undeclared struct{ list []stockpool.Change }

// add reports only the name of a field without a plain value: it may be secret.
func (u *undeclared) add(at string, value any) {
	c := stockpool.Change{Field: at, Wants: "nothing"}
	switch value.(type) {
	case string, bool, float64:
		c.Was = shown(at, value)
	}
	u.list = append(u.list, c)
}

func (u *undeclared) compare(at string, live, wanted any) {
	if harmless(at, live) {
		return
	}
	switch has := live.(type) {
	case map[string]any:
		want, _ := wanted.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(has)) {
			u.compare(at+"."+key, has[key], want[key])
		}
	case []any:
		want, _ := wanted.([]any)
		if names := byName(has); names != nil {
			u.members(at, names, byName(want))
		} else if len(want) == 0 && len(has) > 0 {
			u.add(at, has)
		}
	default:
		if wanted == nil && live != nil {
			u.add(at, live)
		}
	}
}

// members compares lists of named members. Of an undeclared container, it also reports the
// resources and the privileges.
func (u *undeclared) members(at string, live, wanted map[string]map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(live)) {
		member, there := wanted[name]
		here := fmt.Sprintf("%s[%s]", at, name)
		switch {
		case there:
			u.compare(here, live[name], member)
			continue
		case harmless(here, live[name]):
			continue
		}
		u.add(here, nil)
		for _, part := range []string{"resources", "securityContext", "volumeDevices"} {
			u.compare(here+"."+part, live[name][part], nil)
		}
	}
}

// byName returns the members of a list by name or port; nil if one has neither.
func byName(list []any) map[string]map[string]any {
	named := map[string]map[string]any{}
	for _, member := range list {
		fields, _ := member.(map[string]any)
		name, _ := fields["name"].(string)
		if port := fields["containerPort"]; port != nil {
			name = fmt.Sprint(port, "/", fields["protocol"])
		}
		if name == "" {
			return nil
		}
		named[name] = fields
	}
	return named
}

// harmless reports whether a field is a default of the API server or harmless. Harmless fields
// do not change the identity, privileges, programs, accelerators or termination of pods.
func harmless(at string, value any) bool {
	field := strings.TrimPrefix(at, "spec.template.spec.")
	if _, in, found := strings.Cut(field, "ontainers["); found { // of any container
		if _, part, of := strings.Cut(in, "]."); of {
			field = "containers." + part
		}
	}
	if values, known := harmlessValues[field]; known {
		text := fmt.Sprint(value)
		return values == nil || slices.Contains(values, text)
	}
	parts, _ := value.(map[string]any)
	switch {
	case field == "terminationGracePeriodSeconds":
		seconds, _ := value.(float64)
		return seconds <= longestGrace
	case strings.HasPrefix(field, "volumes["):
		return parts["emptyDir"] != nil
	case strings.HasPrefix(field, "containers.env["):
		from, _ := parts["valueFrom"].(map[string]any)
		return from["fieldRef"] != nil || from["resourceFieldRef"] != nil
	case strings.HasSuffix(field, "Probe"):
		return parts["exec"] == nil
	}
	for _, in := range []string{"containers.resources.requests.", "containers.resources.limits.", "resources.requests.", "resources.limits."} {
		if name, of := strings.CutPrefix(field, in); of {
			return !strings.Contains(name, "/")
		}
	}
	return false
}

// longestGrace is the longest unreported grace period in seconds, the default of budgets. Until
// pods have terminated, they hold their GPUs.
const longestGrace = 300

// harmlessValues are fields that are harmless with these values; nil means any. Those of each
// container are below "containers".
var harmlessValues = map[string][]string{
	"restartPolicy": nil, "topologySpreadConstraints": nil, "schedulerName": {"default-scheduler"},
	"dnsPolicy": {"ClusterFirst"}, "enableServiceLinks": {"true", "false"}, "hostNetwork": {"false"}, "hostPID": {"false"}, "hostIPC": {"false"},
	"hostUsers": {"false"}, "shareProcessNamespace": {"false"}, "os": {"map[name:linux]"}, "automountServiceAccountToken": {"false"},
	"securityContext.runAsNonRoot": {"true"}, "securityContext.seccompProfile": {"map[type:RuntimeDefault]"},

	"containers.imagePullPolicy": nil, "containers.terminationMessagePath": nil, "containers.terminationMessagePolicy": nil,
	"containers.volumeMounts": nil, // the mounted volumes are in volumes
	"containers.stdin":        nil, "containers.stdinOnce": nil, "containers.tty": nil,
	"containers.securityContext.privileged": {"false"}, "containers.securityContext.allowPrivilegeEscalation": {"false"},
	"containers.securityContext.readOnlyRootFilesystem": nil, "containers.securityContext.runAsNonRoot": {"true"},
	"containers.securityContext.capabilities.drop": nil, "containers.securityContext.procMount": {"Default"},
	"containers.securityContext.seccompProfile": {"map[type:RuntimeDefault]"},
}
