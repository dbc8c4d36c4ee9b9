package manifests_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
)

var update = flag.Bool("update", false, "write the golden file")

func options() manifests.Options {
	return manifests.Options{
		Namespace: manifests.DefaultNamespace, Image: "ghcr.io/gpupool/gpupool:1.2.3", Schedule: manifests.DefaultSchedule,
		Timeout: manifests.DefaultTimeout, Enforcement: manifests.DefaultEnforcement, CredentialsSecret: manifests.DefaultCredentialsSecret,
		FreezeSlots: manifests.DefaultFreezeSlots,
	}
}

func withNodes() manifests.Options {
	o := options()
	o.BootstrapGroups = []string{"system:bootstrappers:kubeadm:default-node-token", "system:bootstrappers:gpu"}
	o.Nodes = manifests.Nodes{Mark: true, Cordon: true, Delete: true, NoticeWatch: true}
	return o
}

func withAll() manifests.Options {
	o := withNodes()
	o.Stock.Pools, o.API = true, true
	return o
}

func objects(t *testing.T, o manifests.Options) []manifests.Object {
	t.Helper()
	all, err := manifests.Objects(o)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestYAML compares all that is printed but the freeze policy, which is
// internal/kube/cluster's, and all slots but the first.
func TestYAML(t *testing.T) {
	t.Parallel()
	compareYAML(t, "manifests.yaml", slices.DeleteFunc(objects(t, options()), func(o manifests.Object) bool {
		name := nameOf(t, o)
		return name == kubecluster.FreezePolicyName || slices.Contains(kubecluster.FreezeSlotNames()[1:], name)
	}))
}

func nameOf(t *testing.T, o manifests.Object) string {
	t.Helper()
	about, err := meta.Accessor(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	return about.GetName()
}

// TestYAMLWithNodes compares the objects that each flag about nodes, and the other mode, add.
func TestYAMLWithNodes(t *testing.T) {
	t.Parallel()
	o := withNodes()
	o.Mode, o.NoticeWatchOn = manifests.Deployment, map[string]string{"pool": "train"}
	compareYAML(t, "nodes.yaml", added(t, o))
}

func withServer() manifests.Options {
	o := options()
	o.Mode, o.PrometheusRule, o.ServiceMonitor = manifests.Serve, true, true
	o.Budgets = "budgets: {team-a: {gpuHours: 100, selector: {matchLabels: {team: a}}}}\n"
	return o
}

// TestYAMLWithServer compares the objects of the server, except the alerts.
func TestYAMLWithServer(t *testing.T) {
	t.Parallel()
	compareYAML(t, "serve.yaml", slices.DeleteFunc(added(t, withServer()), func(o manifests.Object) bool {
		return o.Object.GetObjectKind().GroupVersionKind().Kind == "PrometheusRule"
	}))
}

// TestPrometheusRule compares the printed alerts with those that the documentation links.
func TestPrometheusRule(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../examples/prometheus/prometheusrule.yml")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := yaml.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	for _, o := range objects(t, withServer()) {
		rule, ok := o.Object.(*unstructured.Unstructured)
		if !ok || rule.GetKind() != "PrometheusRule" {
			continue
		}
		if diff := cmp.Diff(want["spec"], rule.Object["spec"]); diff != "" {
			t.Errorf("run make generate (-example +printed)\n%s", diff)
		}
		return
	}
	t.Error("no PrometheusRule is printed")
}

// added returns the objects that options add.
func added(t *testing.T, o manifests.Options) []manifests.Object {
	t.Helper()
	text := func(o manifests.Object) string {
		one, err := manifests.YAML([]manifests.Object{o})
		if err != nil {
			t.Fatal(err)
		}
		return string(one)
	}
	known := map[string]bool{}
	for _, o := range objects(t, options()) {
		known[text(o)] = true
	}
	return slices.DeleteFunc(objects(t, o), func(o manifests.Object) bool { return known[text(o)] })
}

func compareYAML(t *testing.T, name string, all []manifests.Object) {
	t.Helper()
	got, err := manifests.YAML(all)
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(golden, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestLimitsComeBeforeRights: no account gets a right before what limits it, also if an apply stops in
// between.
func TestLimitsComeBeforeRights(t *testing.T) {
	t.Parallel()
	all := objects(t, withAll())
	policies, bound := policiesOf(all), map[string]bool{}
	limits := map[string][]string{} // of what a binding grants
	for n, o := range all {
		if b, ok := o.Object.(*admissionv1.ValidatingAdmissionPolicyBinding); ok {
			bound[b.Spec.PolicyName] = true
		}
		for _, p := range policies {
			if !slices.ContainsFunc(grantedBy(all, n), p.limits) {
				continue
			}
			name, limit := strings.TrimPrefix(nameOf(t, o), "gpupool-system-"), strings.TrimPrefix(p.Name, "gpupool-system-")
			limits[name] = append(limits[name], limit)
			if !bound[p.Name] {
				t.Errorf("%s is bound before %s limits it", name, limit)
			}
		}
	}
	want := map[string][]string{
		"lift": {"events", "limits"}, "enforce": {"events", "limits"}, "drain": {"limits"},
		"nodes":        {"nodes", "mark-nodes", "cordon-nodes", "delete-nodes"},
		"notice-watch": {"notice-watch", "notice-watch-pods"}, "stock-pools": {"stock-pools", "stock-pods"}, "bootstrap-tokens": {"bootstrap-tokens"},
	}
	if diff := cmp.Diff(want, limits); diff != "" {
		t.Errorf("limits, by binding (-want +got)\n%s", diff)
	}
}

// grantedBy returns what the n-th object grants: nothing, unless it is a binding.
func grantedBy(all []manifests.Object, n int) []grant {
	var with []manifests.Object
	for m, o := range all {
		switch o.Object.(type) {
		case *rbacv1.RoleBinding, *rbacv1.ClusterRoleBinding:
			if m != n {
				continue
			}
		}
		with = append(with, o)
	}
	return grantsOf(with)
}

// limits reports whether the policy limits what is granted.
func (p policy) limits(g grant) bool {
	operation := map[string]admissionv1.OperationType{
		"create": admissionv1.Create, "update": admissionv1.Update, "patch": admissionv1.Update, "delete": admissionv1.Delete,
	}[g.verb]
	in := p.Spec.MatchConstraints.NamespaceSelector
	return strings.Contains(p.Spec.MatchConditions[0].Expression, ":"+g.account+"'") &&
		(in == nil || in.MatchLabels[corev1.LabelMetadataName] == g.namespace) &&
		slices.ContainsFunc(p.Spec.MatchConstraints.ResourceRules, func(r admissionv1.NamedRuleWithOperations) bool {
			return slices.Contains(r.APIGroups, g.group) && slices.Contains(r.Resources, g.resource) && slices.Contains(r.Operations, operation)
		})
}

func TestYAMLIsTheSameEachTimeAndWithoutNoise(t *testing.T) {
	t.Parallel()
	first, err := manifests.YAML(objects(t, options()))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := manifests.YAML(objects(t, options()))
		if err != nil || !bytes.Equal(first, again) {
			t.Fatalf("another text (%v)", err)
		}
	}
	for _, noise := range []string{"creationTimestamp", "\nstatus:", "null", "{}\n---"} {
		if bytes.Contains(first, []byte(noise)) {
			t.Errorf("the text has %q in it", noise)
		}
	}
	if !bytes.Contains(first, []byte("name: gpupool-freeze")) {
		t.Error("the freeze policy is missing")
	}
}

func TestEnforcementLimitsTheRights(t *testing.T) {
	t.Parallel()
	harmful := map[budget.Action]string{
		budget.Freeze: "update validatingadmissionpolicybindings", budget.Pause: "update deployments/scale", budget.Evict: "create pods/eviction",
	}
	actions := []budget.Action{budget.AlertOnly, budget.Freeze, budget.Pause, budget.Evict}
	for n, allowed := range actions {
		o := options()
		o.Enforcement = allowed
		granted := verbs(slices.Concat(manifests.LiftRules(o), manifests.EnforceRules(o)))
		for m, action := range actions[1:] {
			if got := slices.Contains(granted, harmful[action]); got != (m < n) {
				t.Errorf("with %s: %s is %t", allowed, harmful[action], got)
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(o *manifests.Options){
		`"Big" cannot be a Kubernetes namespace`: func(o *manifests.Options) { o.Namespace = "Big" },
		`"" is not an image reference`:           func(o *manifests.Options) { o.Image = "" },
		`"a b" is not an image reference`:        func(o *manifests.Options) { o.Image = "a b" },
		`invalid schedule "* * *"`:               func(o *manifests.Options) { o.Schedule = "* * *" },
		`invalid schedule "61 * * * *"`:          func(o *manifests.Options) { o.Schedule = "61 * * * *" },
		`invalid schedule "* * * * * *"`:         func(o *manifests.Options) { o.Schedule = "* * * * * *" },
		`invalid schedule "@fortnightly"`:        func(o *manifests.Options) { o.Schedule = "@fortnightly" },
		`invalid schedule "*/5 8-2 * * *"`:       func(o *manifests.Options) { o.Schedule = "*/5 8-2 * * *" },
		`schedule has no time zone`:              func(o *manifests.Options) { o.Schedule = "TZ=Asia/Tokyo 0 * * * *" },
		`"0 0 31 2 *" never matches`:             func(o *manifests.Options) { o.Schedule = "0 0 31 2 *" },
		`invalid schedule "hourly"`:              func(o *manifests.Options) { o.Schedule = "hourly" },
		"too short for a run":                    func(o *manifests.Options) { o.Timeout = time.Second },
		`invalid enforcement "delete"`:           func(o *manifests.Options) { o.Enforcement = "delete" },
		"credentials is empty":                   func(o *manifests.Options) { o.CredentialsSecret = "" },
		`invalid currency "EUR"`:                 func(o *manifests.Options) { o.Currency = "EUR" },
		"cannot be both":                         func(o *manifests.Options) { o.RunNamespace = o.Namespace },
		`"Big" cannot be the run's namespace`:    func(o *manifests.Options) { o.RunNamespace = "Big" },
		`invalid mode "pod"`:                     func(o *manifests.Options) { o.Mode = "pod" },
		"add --mode serve":                       func(o *manifests.Options) { o.TLSSecret = "a" },
		"exclude each other":                     func(o *manifests.Options) { o.Mode, o.TLSSecret, o.BehindProxy = manifests.Serve, "a", true },
		`"A" is not the name of a Secret`:        func(o *manifests.Options) { o.Mode, o.TLSSecret = manifests.Serve, "A" },
		"--cordon-nodes needs --mark-nodes":      func(o *manifests.Options) { o.Cordon = true },
		"needs --enforcement evict": func(o *manifests.Options) {
			o.Mark, o.Cordon, o.Enforcement = true, true, budget.Pause
		},
		`"system:masters" is not a group of bootstrap tokens`: func(o *manifests.Options) { o.BootstrapGroups = []string{"system:masters"} },
		"kube-system cannot be the store's or the run's":      func(o *manifests.Options) { o.Namespace = "kube-system" },
		"kube-public cannot be":                               func(o *manifests.Options) { o.RunNamespace = "kube-public" },
		"default cannot be":                                   func(o *manifests.Options) { o.Namespace = "default" },
		"--bootstrap-groups have 555 bytes": func(o *manifests.Options) {
			o.BootstrapGroups = []string{"system:bootstrappers:" + strings.Repeat("a", 256), "system:bootstrappers:" + strings.Repeat("b", 256)}
		},
		"--delete-nodes needs --mark-nodes": func(o *manifests.Options) { o.Delete = true },
		"and needs --notice-watch":          func(o *manifests.Options) { o.NoticeWatchOn = map[string]string{"a": "b"} },
		"is not a node label": func(o *manifests.Options) {
			o.NoticeWatch, o.NoticeWatchOn = true, map[string]string{"a": "b c"}
		},
	} {
		o := options()
		change(&o)
		if all, err := manifests.Objects(o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %d objects and the error %v, want one that says %s", len(all), err, says)
		}
	}
}

// TestRunsHaveTheCurrency: in each mode. The container that declares budgets needs none.
func TestRunsHaveTheCurrency(t *testing.T) {
	t.Parallel()
	for _, mode := range []manifests.Mode{manifests.CronJob, manifests.Deployment, manifests.Serve} {
		o := options()
		o.Mode, o.Currency, o.Budgets = mode, "USD", "budgets: {}"
		text, err := manifests.YAML(objects(t, o))
		if err != nil {
			t.Fatal(err)
		}
		const variable = "- name: GPUPOOL_CURRENCY\n"
		if n := strings.Count(string(text), variable); n != 1 {
			t.Errorf("%s: %d containers have the currency", mode, n)
		}
		o.Currency = ""
		if text, err = manifests.YAML(objects(t, o)); err != nil || strings.Contains(string(text), variable) {
			t.Errorf("%s: a container has a currency that is not set (%v)", mode, err)
		}
	}
}
