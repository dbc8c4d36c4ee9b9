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
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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
	v.Name("name", d.Name, "stock_pool")
	if len(validation.IsDNS1123Label(d.Namespace)) > 0 {
		v.Add("namespace", reason.InvalidNamespace(reason.Quoted(d.Namespace)))
	}
	if d.SpecName == "" || len(validation.IsValidLabelValue(d.SpecName)) > 0 {
		v.Add("spec_name", reason.InvalidSpecName(reason.Quoted(d.SpecName)))
	}
	if !imageForm.MatchString(d.Image) {
		v.Add("image", reason.InvalidImage(reason.Quoted(d.Image)))
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
	v.quantity("memory", d.Memory, reason.InvalidMemory, reason.MemoryTooSmall)
	if d.CPU != "" {
		v.quantity("cpu", d.CPU, reason.InvalidCPU, reason.CPUTooSmall)
	}
	v.Within("gpu", int64(d.GPU), 0, maxGPUs, reason.GPUsRange)
	if len(validation.IsQualifiedName(d.GPUResource)) > 0 || !strings.Contains(d.GPUResource, "/") {
		v.Add("gpu_resource", reason.GPUResource(reason.Quoted(d.GPUResource), DefaultGPUResource))
	}
}

func (v *validator) quantity(attribute, text string, invalid func(reason.Quoted) reason.Reason, tooSmall func(reason.Value) reason.Reason) {
	q, err := resource.ParseQuantity(text)
	switch {
	case err != nil:
		v.Add(attribute, invalid(reason.Quoted(text)))
	case q.Sign() <= 0:
		v.Add(attribute, tooSmall(reason.NewValue(text)))
	}
}

func (v *validator) counts() {
	d := v.d
	problem.OneOf(&v.List, "replicas_policy", d.ReplicasPolicy, ReplicasTotal, ReplicasAvailable)
	v.Within("replicas", int64(d.Replicas), 0, maxReplicas, reason.ReplicasRange)
	most := d.Replicas
	switch {
	case d.ReplicasPolicy == ReplicasAvailable && d.Maximum == 0:
		v.Add("maximum", reason.MaximumRequired())
	case d.ReplicasPolicy == ReplicasAvailable:
		v.Within("maximum", int64(d.Maximum), int64(max(1, d.Replicas)), maxReplicas, reason.MaximumPodsRange)
		most = d.Maximum
	case d.Maximum != 0:
		v.Add("maximum", reason.MaximumOfOtherPolicy())
	}
	if d.ReplicasPolicy == ReplicasAvailable && d.AllocatedSelector == "" {
		v.Add("allocated_selector", reason.SelectorRequired())
	}
	if d.PodDisruptionBudget != nil {
		v.Within("pod_disruption_budget.min_available", int64(d.PodDisruptionBudget.MinAvailable), 1, int64(max(1, most)), reason.MinAvailableRange)
	}
}

func (v *validator) container() {
	d := v.d
	for attribute, env := range map[string]map[string]string{"env": d.Env, "env_wo": d.EnvWO} {
		for _, name := range slices.Sorted(maps.Keys(env)) {
			if len(validation.IsEnvVarName(name)) > 0 {
				v.Add(fmt.Sprintf("%s[%q]", attribute, name), reason.InvalidVariable(reason.Quoted(name)))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.EnvWO)) {
		if _, twice := d.Env[name]; twice {
			v.Add(fmt.Sprintf("env_wo[%q]", name), reason.VariableRepeated(reason.NewValue(name)))
		}
	}
	if d.EnvWOVersion < 0 {
		v.Add("env_wo_version", reason.InvalidVersion(reason.Count(d.EnvWOVersion), "env_wo"))
	}
	for n, p := range d.Ports {
		at := fmt.Sprintf("ports[%d]", n)
		v.Within(at+".port", int64(p.Port), 1, maxPort, reason.PortRange)
		if p.Name != "" && len(validation.IsValidPortName(p.Name)) > 0 {
			v.Add(at+".name", reason.InvalidPortName(reason.Quoted(p.Name)))
		}
		problem.OneOf(&v.List, at+".protocol", p.Protocol, "TCP", "UDP", "SCTP")
		again := slices.ContainsFunc(d.Ports[:n], func(o Port) bool {
			return o.Port == p.Port && o.Protocol == p.Protocol || p.Name != "" && o.Name == p.Name
		})
		if again {
			v.Add(at, reason.PortRepeated(reason.Count(p.Port), reason.NewValue(p.Protocol)))
		}
	}
}

func (v *validator) placement() {
	d := v.d
	v.labels("labels", d.Labels)
	for _, reserved := range []string{LabelPool, labelSpec} {
		if _, taken := d.Labels[reserved]; taken {
			v.Add(fmt.Sprintf("labels[%q]", reserved), reason.LabelReserved(reason.Word(reserved)))
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
			v.Add(at+".key", reason.TolerationNoKey())
		case t.Key != "" && len(validation.IsQualifiedName(t.Key)) > 0:
			v.Add(at+".key", reason.InvalidTaintKey(reason.Quoted(t.Key)))
		}
		if t.Operator == "Exists" && t.Value != "" {
			v.Add(at+".value", reason.ExistsTakesNone())
		}
	}
	v.object("runtime_class_name", d.RuntimeClassName)
	v.object("service_account_name", d.ServiceAccountName)
	for n, name := range d.ImagePullSecrets {
		at := fmt.Sprintf("image_pull_secrets[%d]", n)
		switch {
		case name == "":
			v.Add(at, reason.SecretUnnamed())
		case slices.Contains(d.ImagePullSecrets[:n], name):
			v.Add(at, reason.SecretRepeated(reason.NewValue(name)))
		}
		v.object(at, name)
	}
}

func (v *validator) object(attribute, name string) {
	if name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		v.Add(attribute, reason.InvalidObject(reason.Quoted(name)))
	}
}

func (v *validator) labels(attribute string, all map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		at := fmt.Sprintf("%s[%q]", attribute, key)
		if len(validation.IsQualifiedName(key)) > 0 {
			v.Add(at, reason.InvalidLabelKey(reason.Quoted(key)))
		}
		if len(validation.IsValidLabelValue(all[key])) > 0 {
			v.Add(at, reason.InvalidLabel(reason.Quoted(all[key])))
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
		v.Add("allocated_selector", reason.InvalidSelector(reason.Quoted(v.d.AllocatedSelector), reason.Failure(err)))
	case s.Matches(labels.Set(v.d.PodLabels())):
		v.Add("allocated_selector", reason.SelectorOfAll())
	}
}

// Warnings returns problems of a valid declaration that is probably a mistake.
func (d Declaration) Warnings() []problem.Problem {
	var list problem.List
	if p := d.PodDisruptionBudget; p != nil && d.ReplicasPolicy != ReplicasAvailable && p.MinAvailable >= d.Replicas && d.Replicas > 0 {
		list.Add("pod_disruption_budget.min_available", reason.NoEvictions())
	}
	return list
}
