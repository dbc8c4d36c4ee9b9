package drift

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Extra is the path of a foreign field of a Deployment, in the steps of managed fields:
// "f:spec", `k:{"name":"A"}`.
type Extra []string

// Extras returns the fields of a Deployment that have an argument but are not declared. It also
// returns fields without an argument that would make the API server refuse each application.
func Extras(of, wanted *appsv1.Deployment) []Extra {
	x := &extras{}
	live, want := of.Spec.Template, wanted.Spec.Template
	x.labels(of, want.Labels)
	x.pod(live.Spec, want.Spec)
	for _, main := range want.Spec.Containers {
		if n := slices.IndexFunc(live.Spec.Containers, func(c corev1.Container) bool { return c.Name == main.Name }); n >= 0 {
			x.container(live.Spec.Containers[n], main)
		}
	}
	switch s := live.Spec.SecurityContext; {
	case want.Spec.SecurityContext != nil:
		x.relaxations(live.Spec, want.Spec)
	case s != nil && s.RunAsNonRoot != nil && *s.RunAsNonRoot:
		x.restrictions(live.Spec, want.Spec)
	}
	slices.SortFunc(x.list, slices.Compare[Extra])
	return x.list
}

type extras struct{ list []Extra }

func (x *extras) add(there bool, at Extra, steps ...string) {
	if there {
		x.list = append(x.list, slices.Concat(at, steps))
	}
}

var (
	atTemplate = Extra{"f:spec", "f:template"}
	atPod      = Extra{"f:spec", "f:template", "f:spec"}
)

// labels omits those that the immutable selector needs.
func (x *extras) labels(of *appsv1.Deployment, want map[string]string) {
	needed := map[string]bool{}
	if s := of.Spec.Selector; s != nil {
		for key := range s.MatchLabels {
			needed[key] = true
		}
		for _, e := range s.MatchExpressions {
			needed[e.Key] = true
		}
	}
	for key := range of.Spec.Template.Labels {
		_, wanted := want[key]
		x.add(!wanted && !needed[key], atTemplate, "f:metadata", "f:labels", "f:"+key)
	}
}

func (x *extras) pod(live, want corev1.PodSpec) {
	x.add(len(live.NodeSelector) > 0 && len(want.NodeSelector) == 0, atPod, "f:nodeSelector")
	x.add(len(live.Tolerations) > 0 && len(want.Tolerations) == 0, atPod, "f:tolerations")
	x.add(live.RuntimeClassName != nil && want.RuntimeClassName == nil, atPod, "f:runtimeClassName")
	if want.ServiceAccountName == "" {
		x.add(live.ServiceAccountName != "", atPod, "f:serviceAccountName")
		x.add(live.DeprecatedServiceAccount != "", atPod, "f:serviceAccount")
	}
	for _, s := range live.ImagePullSecrets {
		x.add(!slices.Contains(want.ImagePullSecrets, s), atPod, "f:imagePullSecrets", keyed(map[string]any{"name": s.Name}))
	}
	// With these, the API server refuses each application: a container that requests more than
	// its pod, and a security context that only Linux has.
	x.add(live.Resources != nil, atPod, "f:resources")
	x.add(live.OS != nil && live.OS.Name != corev1.Linux, atPod, "f:os")
}

func (x *extras) container(live, want corev1.Container) {
	at := slices.Concat(atPod, Extra{"f:containers", keyed(map[string]any{"name": live.Name})})
	x.add(len(live.Command) > 0 && len(want.Command) == 0, at, "f:command")
	x.add(len(live.Args) > 0 && len(want.Args) == 0, at, "f:args")
	for _, e := range live.Env {
		item := keyed(map[string]any{"name": e.Name})
		if slices.ContainsFunc(want.Env, func(w corev1.EnvVar) bool { return w.Name == e.Name }) {
			x.add(e.ValueFrom != nil, at, "f:env", item, "f:valueFrom")
		} else {
			x.add(e.ValueFrom == nil, at, "f:env", item)
		}
	}
	for _, p := range live.Ports {
		item := keyed(map[string]any{"containerPort": p.ContainerPort, "protocol": p.Protocol})
		n := slices.IndexFunc(want.Ports, func(w corev1.ContainerPort) bool {
			return w.ContainerPort == p.ContainerPort && w.Protocol == p.Protocol
		})
		if n < 0 {
			x.add(true, at, "f:ports", item)
		} else {
			x.add(p.Name != "" && want.Ports[n].Name == "", at, "f:ports", item, "f:name")
		}
	}
	for field, lists := range map[string][2]corev1.ResourceList{
		"f:requests": {live.Resources.Requests, want.Resources.Requests}, "f:limits": {live.Resources.Limits, want.Resources.Limits},
	} {
		for name := range lists[0] {
			_, wanted := lists[1][name]
			declared := name == stockpool.DefaultGPUResource || name == corev1.ResourceCPU && field == "f:requests"
			x.add(declared && !wanted, at, "f:resources", field, "f:"+string(name))
		}
	}
}

// restrictions are the fields that pod_security_level = "restricted" sets.
func (x *extras) restrictions(live, want corev1.PodSpec) {
	x.add(true, atPod, "f:securityContext", "f:runAsNonRoot")
	x.add(live.SecurityContext.SeccompProfile != nil, atPod, "f:securityContext", "f:seccompProfile")
	for _, c := range live.Containers {
		s := c.SecurityContext
		if s == nil || c.Name != want.Containers[0].Name {
			continue
		}
		at := slices.Concat(atPod, Extra{"f:containers", keyed(map[string]any{"name": c.Name}), "f:securityContext"})
		x.add(s.AllowPrivilegeEscalation != nil, at, "f:allowPrivilegeEscalation")
		x.add(s.Capabilities != nil && len(s.Capabilities.Drop) > 0, at, "f:capabilities", "f:drop")
	}
}

// relaxations are the fields that undo pod_security_level = "restricted".
func (x *extras) relaxations(live, want corev1.PodSpec) {
	isRoot := func(user *int64) bool { return user != nil && *user == 0 }
	if s := live.SecurityContext; s != nil {
		x.add(isRoot(s.RunAsUser), atPod, "f:securityContext", "f:runAsUser")
	}
	for _, c := range live.Containers {
		s := c.SecurityContext
		if s == nil || c.Name != want.Containers[0].Name {
			continue
		}
		at := slices.Concat(atPod, Extra{"f:containers", keyed(map[string]any{"name": c.Name}), "f:securityContext"})
		x.add(isRoot(s.RunAsUser), at, "f:runAsUser")
		x.add(s.RunAsNonRoot != nil && !*s.RunAsNonRoot, at, "f:runAsNonRoot")
		x.add(s.Privileged != nil && *s.Privileged, at, "f:privileged")
		x.add(s.SeccompProfile != nil && s.SeccompProfile.Type == corev1.SeccompProfileTypeUnconfined, at, "f:seccompProfile")
		x.add(s.ProcMount != nil && *s.ProcMount == corev1.UnmaskedProcMount, at, "f:procMount")
		x.add(s.Capabilities != nil && slices.ContainsFunc(s.Capabilities.Add, func(c corev1.Capability) bool { return c != "NET_BIND_SERVICE" }),
			at, "f:capabilities", "f:add")
	}
}

func keyed(keys map[string]any) string {
	text, err := json.Marshal(keys)
	if err != nil { // plain values cannot fail
		return ""
	}
	return "k:" + string(text)
}

// Without returns a Deployment without some fields; nil if it cannot be encoded in JSON.
func Without(of *appsv1.Deployment, fields []Extra) *appsv1.Deployment {
	all, ok := plain(of).(map[string]any)
	if !ok {
		return nil
	}
	for _, path := range fields {
		remove(all, path)
	}
	text, err := json.Marshal(all)
	out := &appsv1.Deployment{}
	if err != nil || json.Unmarshal(text, out) != nil {
		return nil
	}
	return out
}

// remove removes a field from an object, and its empty parents.
func remove(from map[string]any, path Extra) {
	name := strings.TrimPrefix(path[0], "f:")
	switch below := from[name].(type) {
	case map[string]any:
		if len(path) > 1 {
			if remove(below, path[1:]); len(below) > 0 {
				return
			}
		}
	case []any:
		if len(path) > 1 {
			if below = removeMember(below, path[1:]); len(below) > 0 {
				from[name] = below
				return
			}
		}
	}
	delete(from, name)
}

func removeMember(from []any, path Extra) []any {
	var keys map[string]any
	if json.Unmarshal([]byte(strings.TrimPrefix(path[0], "k:")), &keys) != nil {
		return from
	}
	return slices.DeleteFunc(from, func(member any) bool {
		fields, ok := member.(map[string]any)
		if !ok {
			return false
		}
		for key, value := range keys {
			if fmt.Sprint(fields[key]) != fmt.Sprint(value) {
				return false
			}
		}
		if len(path) > 1 {
			remove(fields, path[1:])
			return false
		}
		return true
	})
}
