package manifests_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
)

// policy is a printed policy. Next to it, the API server warns of each of its conditions that refuses
// a request. It also warns of each weaker one that would admit it, or fail to be evaluated.
type policy struct {
	*admissionv1.ValidatingAdmissionPolicy
	weaker []weakerCondition
}

// weakerCondition is one condition of a policy, with a part of it left out.
type weakerCondition struct{ condition, expression string }

func policiesOf(all []manifests.Object) []policy {
	var list []policy
	for _, o := range all {
		p, ok := o.Object.(*admissionv1.ValidatingAdmissionPolicy)
		if !ok || !strings.HasPrefix(p.Name, manifests.DefaultNamespace+"-") {
			continue // the freeze policy is tested in internal/kube/cluster
		}
		var conditions []weakerCondition
		for _, v := range p.Spec.Validations {
			for _, w := range weaker(v.Expression) {
				conditions = append(conditions, weakerCondition{p.Name + ": " + v.Message, w})
			}
		}
		list = append(list, policy{p, conditions})
	}
	return list
}

const weakened = "weaker-" // is before the name of a policy with the weaker conditions

// warn creates the bindings that only warn, and a policy that warns of each weaker condition that is true.
func warn(t *testing.T, cluster *kubetest.Cluster, p policy) {
	t.Helper()
	bind := func(name, policy string) {
		kubetest.Create(t, cluster, &admissionv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: policy, ValidationActions: []admissionv1.ValidationAction{admissionv1.Warn},
			},
		})
	}
	bind("warn-"+p.Name, p.Name)
	if len(p.weaker) == 0 {
		return
	}
	spec := p.Spec.DeepCopy()
	spec.Validations = nil
	for n, w := range p.weaker {
		spec.Validations = append(spec.Validations, admissionv1.Validation{Expression: "!(" + w.expression + ")", Message: fmt.Sprint(n)})
	}
	kubetest.Create(t, cluster, &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: weakened + p.Name}, Spec: *spec})
	bind(weakened+p.Name, weakened+p.Name)
}

// refusal is a call that policies refuse, though RBAC would allow it.
type refusal struct {
	account string
	abuse   abuse
	call    apiCall
	by      map[string]bool // conditions, as "policy: message"
	changed map[string]bool // by weaker conditions: it is admitted, or refused as invalid
}

// only reports whether nothing else than a policy, or one of its conditions, refuses the call.
func (r *refusal) only(of string) bool {
	for condition := range r.by {
		if condition != of && !strings.HasPrefix(condition, of+": ") {
			return false
		}
	}
	return true
}

var warned = regexp.MustCompile(`^Validation failed for ValidatingAdmissionPolicy '(.+?)' with binding '.+?': (.*)$`)

// warnings collects those of one call.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader takes one up.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// refusalOf makes a call without an effect, and returns which policies refuse it.
func refusalOf(ctx context.Context, client kubernetes.Interface, policies []policy, a abuse, work string) refusal {
	heard := &warnings{}
	err := callWith(ctx, client, allowed(a.what, "", a).abuse, work, heard)
	r := refusal{abuse: a, by: map[string]bool{}, changed: map[string]bool{}}
	if err == nil {
		return r
	}
	for _, p := range policies {
		for _, text := range heard.texts {
			found := warned.FindStringSubmatch(text)
			switch {
			case found != nil && found[1] == p.Name:
				r.by[p.Name+": "+p.condition(found[2])] = true
			case found != nil && found[1] == weakened+p.Name:
				for n, w := range p.weaker {
					if found[2] == fmt.Sprint(n) || broken(found[2], "!("+w.expression+")") {
						r.changed[w.expression] = true
					}
				}
			}
		}
	}
	return r
}

// condition returns the message of the condition that a warning is about.
func (p policy) condition(text string) string {
	for _, v := range p.Spec.Validations {
		if broken(text, v.Expression) {
			return v.Message
		}
	}
	return text
}

// broken reports whether a warning says that an expression could not be evaluated.
func broken(text, expression string) bool {
	return strings.HasPrefix(text, "expression '"+expression+"'")
}

// bypassing acts as an account of the manifests, with all rights: only policies refuse its calls. The
// agent is that of the node own.
func bypassing(t *testing.T, cluster *kubetest.Cluster, account string) kubernetes.Interface {
	t.Helper()
	config := cluster.Config()
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + manifests.RunNamespaceOf(manifests.DefaultNamespace) + ":" + account, Groups: []string{"system:masters"},
	}
	if account == manifests.NoticeAccount {
		config.Impersonate.Extra = map[string][]string{"authentication.kubernetes.io/node-name": {"own"}}
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

var operations = map[string]admissionv1.OperationType{
	http.MethodPost: admissionv1.Create, http.MethodPut: admissionv1.Update, http.MethodPatch: admissionv1.Update, http.MethodDelete: admissionv1.Delete,
}

// eachConditionIsNeeded tries each abuse as each account, as if RBAC allowed it. It expects an abuse
// that nothing else refuses for each condition, each part of one, each operation and each account. So
// without it, a test of abuses fails.
func eachConditionIsNeeded(t *testing.T, cluster *kubetest.Cluster, work string) {
	policies := policiesOf(objects(t, withAll()))
	limited := map[string]bool{} // resources
	for _, p := range policies {
		warn(t, cluster, p)
		for _, rule := range p.Spec.MatchConstraints.ResourceRules {
			for _, resource := range rule.Resources {
				limited[rule.APIGroups[0]+"/"+resource] = true
			}
		}
	}
	tries := slices.Concat(abuses(), noticesOfOthers("own"), noticesOfOthers("other"), deletionsOfPods(t, cluster, work))
	for _, right := range slices.Sorted(maps.Keys(foreignAttempts())) {
		for _, a := range foreignAttempts()[right] {
			tries = append(tries, a.abuse)
		}
	}
	untilWarned(t, cluster, work)
	var refusals []refusal
	for _, account := range []string{manifests.ReconcileAccount, manifests.TerraformAccount, manifests.NoticeAccount} {
		client := bypassing(t, cluster, account)
		for _, a := range tries {
			call, ok := callOf("", a.path)
			if !ok || operations[a.verb] == "" || !limited[call.group+"/"+call.resource] || a.verb == http.MethodDelete && call.name == "" {
				continue
			}
			r := refusalOf(t.Context(), client, policies, a, work)
			r.account, r.call = account, call
			if len(r.by) > 0 {
				refusals = append(refusals, r)
			}
		}
	}
	for _, p := range policies {
		t.Run(p.Name, func(t *testing.T) { p.isNeeded(t, cluster, refusals, work) })
	}
}

// untilWarned waits until the API server warns by the policies and bindings that were created: all of
// them, since it reads them in their order.
func untilWarned(t *testing.T, cluster *kubetest.Cluster, work string) {
	t.Helper()
	last := policy{ValidatingAdmissionPolicy: kubetest.Create(t, cluster, &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "last"},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				},
			}}},
			Validations: []admissionv1.Validation{{Expression: "false"}},
		},
	})}
	warn(t, cluster, last)
	kubetest.WaitFor(t, "the API server to warn", func(ctx context.Context) error {
		heard := &warnings{}
		a := allowed("", "", post(apiCore+"WORK/configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"last"}}`))
		if err := callWith(ctx, cluster.Client(), a.abuse, work, heard); err != nil || len(heard.texts) == 0 {
			return fmt.Errorf("it warned of %v (%v)", heard.texts, err) //nolint:errorlint // it may be nil
		}
		return nil
	})
}

// isNeeded fails for what nothing shows to be needed of the policy, and if it limits an administrator.
func (p policy) isNeeded(t *testing.T, cluster *kubetest.Cluster, refusals []refusal, work string) {
	t.Helper()
	shown := func(only string, is func(r refusal) bool) bool {
		return slices.ContainsFunc(refusals, func(r refusal) bool { return r.only(only) && is(r) })
	}
	always := func(refusal) bool { return true }
	for _, v := range p.Spec.Validations {
		if !shown(p.Name+": "+v.Message, always) {
			t.Errorf("no abuse is refused only because %q", v.Message)
		}
	}
	for _, w := range p.weaker {
		if !shown(w.condition, func(r refusal) bool { return r.changed[w.expression] }) {
			t.Errorf("no abuse shows why %s is no more than\n%s", w.condition, w.expression)
		}
	}
	for _, rule := range p.Spec.MatchConstraints.ResourceRules {
		for _, resource := range rule.Resources {
			for _, operation := range rule.Operations {
				if !shown(p.Name, func(r refusal) bool {
					return r.call.group == rule.APIGroups[0] && r.call.resource == resource && operations[r.abuse.verb] == operation &&
						r.abuse.as != types.ApplyPatchType // which creates or updates
				}) {
					t.Errorf("no abuse shows why it limits %s of %s", operation, resource)
				}
			}
		}
	}
	for _, account := range []string{manifests.ReconcileAccount, manifests.TerraformAccount, manifests.NoticeAccount} {
		limits := strings.Contains(p.Spec.MatchConditions[0].Expression, ":"+account+"'")
		if shown(p.Name, func(r refusal) bool { return r.account == account }) != limits {
			t.Errorf("it limits %s: %t; the abuses do not show it", account, limits)
		}
	}
	at := slices.IndexFunc(refusals, func(r refusal) bool { return r.only(p.Name) })
	if at < 0 {
		t.Fatal("it refuses nothing that no other policy refuses")
	}
	if r := refusalOf(t.Context(), cluster.Client(), []policy{p}, refusals[at].abuse, work); len(r.by) > 0 {
		t.Errorf("an administrator may not %s: %v", refusals[at].abuse.what, r.by)
	}
}

// TestPoliciesFailClosed: what cannot be evaluated is refused, and each policy is bound to all that it
// matches.
func TestPoliciesFailClosed(t *testing.T) {
	t.Parallel()
	all := objects(t, withAll())
	bound := map[string][]admissionv1.ValidationAction{}
	for _, o := range all {
		if b, ok := o.Object.(*admissionv1.ValidatingAdmissionPolicyBinding); ok && b.Spec.MatchResources == nil && b.Spec.ParamRef == nil {
			bound[b.Spec.PolicyName] = b.Spec.ValidationActions
		}
	}
	policies := policiesOf(all)
	if len(policies) != 11 {
		t.Errorf("there are %d policies, want 11", len(policies))
	}
	for _, p := range policies {
		if *p.Spec.FailurePolicy != admissionv1.Fail || *p.Spec.MatchConstraints.MatchPolicy != admissionv1.Equivalent {
			t.Errorf("%s: the failure policy is %s, the match policy %s", p.Name, *p.Spec.FailurePolicy, *p.Spec.MatchConstraints.MatchPolicy)
		}
		if !slices.Equal(bound[p.Name], []admissionv1.ValidationAction{admissionv1.Deny}) {
			t.Errorf("%s is bound with %v", p.Name, bound[p.Name])
		}
	}
}
