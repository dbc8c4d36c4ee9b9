package stockpool

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
)

const (
	maxReplicas = 10_000
	maxGPUs     = 1024
	maxPort     = 65535
)

// Validate returns the problems of a declaration that can be found without a cluster. Defaults
// must be set before, see WithDefaults.
func (d Declaration) Validate() []problem.Problem {
	v := &validator{d: d}
	v.Name("name", d.Name, "a stock pool")
	if len(validation.IsDNS1123Label(d.Namespace)) > 0 {
		v.Add("namespace", "Name a namespace of the cluster, such as \"default\".", "%q is not a namespace name", d.Namespace)
	}
	if d.SpecName == "" || len(validation.IsValidLabelValue(d.SpecName)) > 0 {
		v.Add("spec_name", "Use at most 63 letters, digits, hyphens, underscores and dots, with a letter or digit first and last, such as \"g1.1\".",
			"%q is not a valid spec name", d.SpecName)
	}
	if !imageForm.MatchString(d.Image) {
		v.Add("image", "Use an image reference, such as \"registry.example.com/team/runtime:1.4\".", "%q is not an image reference", d.Image)
	}
	v.resources()
	v.counts()
	v.container()
	v.placement()
	problem.OneOf(&v.List, "pod_security_level", d.PodSecurityLevel, Restricted, Baseline)
	problem.OneOf(&v.List, "on_destroy", d.OnDestroy, DestroyDelete, DestroyRetain)
	v.selector()
	return v.List
}

// imageForm is an image reference: a host, a path, a tag and a digest.
var imageForm = regexp.MustCompile(
	`^([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?(:[0-9]+)?/)?[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*(/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*` +
		`(:[a-zA-Z0-9_][-a-zA-Z0-9_.]{0,127})?(@sha256:[0-9a-f]{64})?$`,
)

type validator struct {
	problem.List
	d Declaration
}

func (v *validator) resources() {
	d := v.d
	v.quantity("memory", d.Memory, "\"16Gi\"")
	if d.CPU != "" {
		v.quantity("cpu", d.CPU, "\"4\" or \"500m\"")
	}
	v.Within("gpu", int64(d.GPU), 0, maxGPUs, "", "Set the number of GPUs per pod, such as 1.")
	if len(validation.IsQualifiedName(d.GPUResource)) > 0 || !strings.Contains(d.GPUResource, "/") {
		v.Add("gpu_resource", "Use the name from a pod's resource requests, or omit it for \""+DefaultGPUResource+"\".", "%q is not an extended resource name",
			d.GPUResource)
	}
}

func (v *validator) quantity(attribute, text, example string) {
	q, err := resource.ParseQuantity(text)
	switch {
	case err != nil:
		v.Add(attribute, "Use a Kubernetes quantity, such as "+example+".", "%q is not a quantity", text)
	case q.Sign() <= 0:
		v.Add(attribute, "Use a larger quantity, such as "+example+".", "%s is not greater than zero", text)
	}
}

func (v *validator) counts() {
	d := v.d
	problem.OneOf(&v.List, "replicas_policy", d.ReplicasPolicy, ReplicasTotal, ReplicasAvailable)
	v.Within("replicas", int64(d.Replicas), 0, maxReplicas, "", "Set the number of pods to keep.")
	most := d.Replicas
	switch {
	case d.ReplicasPolicy == ReplicasAvailable && d.Maximum == 0:
		v.Add("maximum", "Set the most pods, in use or not.", "replicas_policy = \"available\" requires maximum")
	case d.ReplicasPolicy == ReplicasAvailable:
		v.Within("maximum", int64(d.Maximum), int64(max(1, d.Replicas)), maxReplicas, "", "It also counts pods in use, so it must be at least replicas.")
		most = d.Maximum
	case d.Maximum != 0:
		v.Add("maximum", "Omit it, or set replicas_policy = \"available\".", "maximum requires replicas_policy = \"available\"")
	}
	if d.ReplicasPolicy == ReplicasAvailable && d.AllocatedSelector == "" {
		v.Add("allocated_selector", "Select the labels of a pod in use, such as \"session\".", "replicas_policy = \"available\" requires "+
			"allocated_selector")
	}
	if d.PodDisruptionBudget != nil {
		v.Within("pod_disruption_budget.min_available", int64(d.PodDisruptionBudget.MinAvailable), 1, int64(max(1, most)), "",
			"Set how many pods evictions must leave available, or omit pod_disruption_budget.")
	}
}

func (v *validator) container() {
	d := v.d
	for attribute, env := range map[string]map[string]string{"env": d.Env, "env_wo": d.EnvWO} {
		for _, name := range slices.Sorted(maps.Keys(env)) {
			if len(validation.IsEnvVarName(name)) > 0 {
				v.Add(fmt.Sprintf("%s[%q]", attribute, name), "Use letters, digits, underscores, dots and hyphens, and no digit first.",
					"%q is not an environment variable name", name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.EnvWO)) {
		if _, twice := d.Env[name]; twice {
			v.Add(fmt.Sprintf("env_wo[%q]", name), "Remove it from one of them.", "the variable %s is in env and in env_wo", name)
		}
	}
	if d.EnvWOVersion < 0 {
		v.Add("env_wo_version", "Start with 1, and increase it with each change of env_wo.", "%d is not a version", d.EnvWOVersion)
	}
	for n, p := range d.Ports {
		at := fmt.Sprintf("ports[%d]", n)
		v.Within(at+".port", int64(p.Port), 1, maxPort, "", "Set the port that the container listens on.")
		if p.Name != "" && len(validation.IsValidPortName(p.Name)) > 0 {
			v.Add(at+".name", "Use at most 15 lower-case letters, digits and hyphens, at least one of them a letter.", "%q is not a port name", p.Name)
		}
		problem.OneOf(&v.List, at+".protocol", p.Protocol, "TCP", "UDP", "SCTP")
		again := slices.ContainsFunc(d.Ports[:n], func(o Port) bool {
			return o.Port == p.Port && o.Protocol == p.Protocol || p.Name != "" && o.Name == p.Name
		})
		if again {
			v.Add(at, "Remove one of them.", "duplicate port %d/%s or port name", p.Port, p.Protocol)
		}
	}
}

func (v *validator) placement() {
	d := v.d
	v.labels("labels", d.Labels)
	for _, reserved := range []string{LabelPool, labelSpec} {
		if _, taken := d.Labels[reserved]; taken {
			v.Add(fmt.Sprintf("labels[%q]", reserved), "Remove it.", "the label %s is reserved for gpupool", reserved)
		}
	}
	v.labels("node_selector", d.NodeSelector)
	for n, t := range d.Tolerations {
		at := fmt.Sprintf("tolerations[%d]", n)
		problem.OneOf(&v.List, at+".operator", t.Operator, "Equal", "Exists")
		if t.Effect != "" {
			problem.OneOf(&v.List, at+".effect", t.Effect, "NoSchedule", "PreferNoSchedule", "NoExecute")
		}
		switch {
		case t.Key == "" && t.Operator != "Exists":
			v.Add(at+".key", "Set the key of a taint, or operator = \"Exists\" for all taints.", "the toleration has no key")
		case t.Key != "" && len(validation.IsQualifiedName(t.Key)) > 0:
			v.Add(at+".key", "Use the key of the node's taint.", "%q is not a taint key", t.Key)
		}
		if t.Operator == "Exists" && t.Value != "" {
			v.Add(at+".value", "Remove it, or set operator = \"Equal\".", "operator = \"Exists\" takes no value")
		}
	}
	v.object("runtime_class_name", d.RuntimeClassName)
	v.object("service_account_name", d.ServiceAccountName)
	for n, name := range d.ImagePullSecrets {
		at := fmt.Sprintf("image_pull_secrets[%d]", n)
		switch {
		case name == "":
			v.Add(at, "Name a Secret in the pool's namespace.", "it is empty")
		case slices.Contains(d.ImagePullSecrets[:n], name):
			v.Add(at, "Remove one of them.", "duplicate Secret %s", name)
		}
		v.object(at, name)
	}
}

func (v *validator) object(attribute, name string) {
	if name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		v.Add(attribute, "Use the name that kubectl get prints.", "%q is not an object name", name)
	}
}

func (v *validator) labels(attribute string, all map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		at := fmt.Sprintf("%s[%q]", attribute, key)
		if len(validation.IsQualifiedName(key)) > 0 {
			v.Add(at, "Use a Kubernetes label key, such as \"team\" or \"example.com/team\".", "%q is not a label key", key)
		}
		if len(validation.IsValidLabelValue(all[key])) > 0 {
			v.Add(at, "Use at most 63 letters, digits, hyphens, underscores and dots, with a letter or digit first and last.", "%q is not a label value",
				all[key])
		}
	}
}

func (v *validator) selector() {
	if v.d.AllocatedSelector == "" {
		return
	}
	s, err := labels.Parse(v.d.AllocatedSelector)
	switch {
	case err != nil:
		v.Add("allocated_selector", "Use the syntax of kubectl --selector, such as \"session\" or \"state=claimed\".", "invalid selector %q: %v",
			v.d.AllocatedSelector, err)
	case s.Matches(labels.Set(v.d.PodLabels())):
		v.Add("allocated_selector", "Select a label that a pod gets when it is claimed.",
			"it selects every pod of the pool from the start, so none would be available")
	}
}

// Warnings returns problems of a valid declaration that is probably a mistake.
func (d Declaration) Warnings() []problem.Problem {
	var list problem.List
	if p := d.PodDisruptionBudget; p != nil && d.ReplicasPolicy != ReplicasAvailable && p.MinAvailable >= d.Replicas && d.Replicas > 0 {
		list.Add("pod_disruption_budget.min_available", "Allow the eviction of at least one pod.",
			"no pod may be evicted, so its nodes cannot be drained")
	}
	return list
}
