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

// The ranges of what a declaration counts.
const (
	maxReplicas = 10_000
	maxGPUs     = 1024
	maxPort     = 65535
)

// Validate says everything that is wrong with a declaration and can be known without a
// cluster. What a user may leave out has to be filled in before, see WithDefaults.
func (d Declaration) Validate() []problem.Problem {
	v := &validator{d: d}
	v.Name("name", d.Name, "a stock pool")
	if len(validation.IsDNS1123Label(d.Namespace)) > 0 {
		v.Add("namespace", "Name a namespace of the cluster, such as \"default\".", "%q is no name of a namespace", d.Namespace)
	}
	if d.SpecName == "" || len(validation.IsValidLabelValue(d.SpecName)) > 0 {
		v.Add("spec_name", "Use at most 63 letters, digits, hyphens, underscores and dots, with a letter or digit first and last, such as \"g1.1\".",
			"%q is no name of a flavour", d.SpecName)
	}
	if !imageForm.MatchString(d.Image) {
		v.Add("image", "Write it as \"docker pull\" takes it, such as \"registry.example.com/team/runtime:1.4\".", "%q is no image", d.Image)
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

// imageForm is a reference to an image, as registries have it: a host, a path, a tag
// and a digest.
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
	v.Within("gpu", int64(d.GPU), 0, maxGPUs, "", "Write how many GPUs each pod holds, such as 1.")
	if len(validation.IsQualifiedName(d.GPUResource)) > 0 || !strings.Contains(d.GPUResource, "/") {
		v.Add("gpu_resource", "Write it as a pod's requests do, or leave it out for \""+DefaultGPUResource+"\".", "%q is no name of a resource of devices",
			d.GPUResource)
	}
}

func (v *validator) quantity(attribute, text, example string) {
	q, err := resource.ParseQuantity(text)
	switch {
	case err != nil:
		v.Add(attribute, "Write it as Kubernetes does, such as "+example+".", "%q is no quantity", text)
	case q.Sign() <= 0:
		v.Add(attribute, "Write more than that, such as "+example+".", "%s is not above zero", text)
	}
}

func (v *validator) counts() {
	d := v.d
	problem.OneOf(&v.List, "replicas_policy", d.ReplicasPolicy, ReplicasTotal, ReplicasAvailable)
	v.Within("replicas", int64(d.Replicas), 0, maxReplicas, "", "Write how many pods are kept.")
	most := d.Replicas
	switch {
	case d.ReplicasPolicy == ReplicasAvailable && d.Maximum == 0:
		v.Add("maximum", "Say how many pods there may be at most, in use or not.", "replicas_policy = \"available\" has no maximum")
	case d.ReplicasPolicy == ReplicasAvailable:
		v.Within("maximum", int64(d.Maximum), int64(max(1, d.Replicas)), maxReplicas, "", "It counts pods in use as well, so it can't be below replicas.")
		most = d.Maximum
	case d.Maximum != 0:
		v.Add("maximum", "Leave it out, or write replicas_policy = \"available\".", "a maximum belongs to replicas_policy = \"available\"")
	}
	if d.ReplicasPolicy == ReplicasAvailable && d.AllocatedSelector == "" {
		v.Add("allocated_selector", "Say which labels a pod has that is in use, such as \"session\".", "replicas_policy = \"available\" can't tell which "+
			"pods are in use")
	}
	if d.PodDisruptionBudget != nil {
		v.Within("pod_disruption_budget.min_available", int64(d.PodDisruptionBudget.MinAvailable), 1, int64(max(1, most)), "",
			"Write how many pods evictions leave available, or leave pod_disruption_budget out.")
	}
}

func (v *validator) container() {
	d := v.d
	for attribute, env := range map[string]map[string]string{"env": d.Env, "env_wo": d.EnvWO} {
		for _, name := range slices.Sorted(maps.Keys(env)) {
			if len(validation.IsEnvVarName(name)) > 0 {
				v.Add(fmt.Sprintf("%s[%q]", attribute, name), "Use letters, digits, underscores, dots and hyphens, and no digit first.",
					"%q is no name of an environment variable", name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.EnvWO)) {
		if _, twice := d.Env[name]; twice {
			v.Add(fmt.Sprintf("env_wo[%q]", name), "Leave it out of one of them.", "the variable %s is in env and in env_wo", name)
		}
	}
	if d.EnvWOVersion < 0 {
		v.Add("env_wo_version", "Begin with 1, and add 1 with each change of env_wo.", "%d is no version", d.EnvWOVersion)
	}
	for n, p := range d.Ports {
		at := fmt.Sprintf("ports[%d]", n)
		v.Within(at+".port", int64(p.Port), 1, maxPort, "", "Write the port that the container listens on.")
		if p.Name != "" && len(validation.IsValidPortName(p.Name)) > 0 {
			v.Add(at+".name", "Use at most 15 lower-case letters, digits and hyphens, at least one of them a letter.", "%q is no name of a port", p.Name)
		}
		problem.OneOf(&v.List, at+".protocol", p.Protocol, "TCP", "UDP", "SCTP")
		again := slices.ContainsFunc(d.Ports[:n], func(o Port) bool {
			return o.Port == p.Port && o.Protocol == p.Protocol || p.Name != "" && o.Name == p.Name
		})
		if again {
			v.Add(at, "Leave one of them out.", "the port %d/%s or its name is there already", p.Port, p.Protocol)
		}
	}
}

func (v *validator) placement() {
	d := v.d
	v.labels("labels", d.Labels)
	for _, reserved := range []string{LabelPool, labelSpec} {
		if _, taken := d.Labels[reserved]; taken {
			v.Add(fmt.Sprintf("labels[%q]", reserved), "Leave it out.", "the label %s is gpupool's own", reserved)
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
			v.Add(at+".key", "Name a taint's key, or write operator = \"Exists\" for all taints.", "the toleration has no key")
		case t.Key != "" && len(validation.IsQualifiedName(t.Key)) > 0:
			v.Add(at+".key", "Write it as the node's taint does.", "%q is no key of a taint", t.Key)
		}
		if t.Operator == "Exists" && t.Value != "" {
			v.Add(at+".value", "Leave it out, or write operator = \"Equal\".", "operator = \"Exists\" takes no value")
		}
	}
	v.object("runtime_class_name", d.RuntimeClassName)
	v.object("service_account_name", d.ServiceAccountName)
	for n, name := range d.ImagePullSecrets {
		at := fmt.Sprintf("image_pull_secrets[%d]", n)
		switch {
		case name == "":
			v.Add(at, "Name a Secret of the namespace.", "it is empty")
		case slices.Contains(d.ImagePullSecrets[:n], name):
			v.Add(at, "Leave one of them out.", "the Secret %s is named already", name)
		}
		v.object(at, name)
	}
}

func (v *validator) object(attribute, name string) {
	if name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		v.Add(attribute, "Write the name as kubectl get prints it.", "%q is no name of an object", name)
	}
}

func (v *validator) labels(attribute string, all map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		at := fmt.Sprintf("%s[%q]", attribute, key)
		if len(validation.IsQualifiedName(key)) > 0 {
			v.Add(at, "Write it as Kubernetes does, such as \"team\" or \"example.com/team\".", "%q is no key of a label", key)
		}
		if len(validation.IsValidLabelValue(all[key])) > 0 {
			v.Add(at, "Use at most 63 letters, digits, hyphens, underscores and dots, with a letter or digit first and last.", "%q is no value of a label",
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
		v.Add("allocated_selector", "Write it as kubectl's --selector takes it, such as \"session\" or \"state=taken\".", "%q selects no labels: %v",
			v.d.AllocatedSelector, err)
	case s.Matches(labels.Set(v.d.PodLabels())):
		v.Add("allocated_selector", "Name a label that a pod gets when somebody takes it.",
			"every pod of the pool is selected from the start, so none would ever be available")
	}
}

// Warnings says what is allowed and probably not meant.
func (d Declaration) Warnings() []problem.Problem {
	var list problem.List
	if p := d.PodDisruptionBudget; p != nil && d.ReplicasPolicy != ReplicasAvailable && p.MinAvailable >= d.Replicas && d.Replicas > 0 {
		list.Add("pod_disruption_budget.min_available", "Leave at least one pod that may be evicted.",
			"no pod may ever be evicted, so that no node of theirs can be drained")
	}
	return list
}
