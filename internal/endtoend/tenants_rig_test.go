package endtoend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli"
	"github.com/gpupool/terraform-provider-gpupool/internal/endtoend/processtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

// tenancy is a cluster that several share: a namespace of others, who do nothing
// wrong, and one of a tenant, who tries what he can. Two users act in the
// tenant's: one with the built-in role edit there, and one who may create pods
// and nothing else.
type tenancy struct {
	*rig
	others string // their namespace; the rig's is the tenant's
	nodes  []*corev1.Node
	team   kubetest.PodOption // the label of the others' budget, which any pod may have
	truth  *truth

	innocent []*corev1.Pod
	editor   kubernetes.Interface
	creator  kubernetes.Interface
}

const teamKey = "team.example.com/name"

// newTenancy makes two nodes with so many GPUs each, the namespaces and users,
// and a pod of the others with one GPU.
func newTenancy(t *testing.T, gpus int) *tenancy {
	t.Helper()
	return newTenancyOn(t, kubetest.Start(t), gpus)
}

// newCrowdedTenancy uses a cluster of its own: its warnings would crowd out those of other
// tests.
func newCrowdedTenancy(t *testing.T, gpus int) *tenancy {
	t.Helper()
	return newTenancyOn(t, kubetest.StartOwn(t, "--nodes=0"), gpus)
}

func newTenancyOn(t *testing.T, server *kubetest.Cluster, gpus int) *tenancy {
	t.Helper()
	installFreezes(t, server)
	s := &tenancy{
		rig:    &rig{t: t, server: server, namespace: server.Namespace(t), dir: t.TempDir() + "/store"},
		others: server.Namespace(t),
	}
	s.team = kubetest.Labels(map[string]string{teamKey: s.others})
	for n := range 2 {
		s.nodes = append(s.nodes, kubetest.Create(t, server, kubetest.Node(fmt.Sprintf("%s-%d", s.namespace, n), gpus)))
	}
	s.truth = watchPods(t, server, s.namespace, s.others)
	s.editor, s.creator = s.user("editor"), s.user("creator")
	s.allow("editor", rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"})
	kubetest.Create(t, server, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "creator"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}}},
	})
	s.allow("creator", rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "creator"})
	for _, user := range []kubernetes.Interface{s.editor, s.creator} {
		kubetest.WaitFor(t, "a tenant's rights to be known", func(ctx context.Context) error {
			return may(ctx, user, s.namespace, "create", "", "pods", "")
		})
	}
	s.innocent = []*corev1.Pod{server.WaitRunning(t, kubetest.Create(t, server,
		kubetest.Pod(s.others, "innocent", s.team, kubetest.GPUs(1), kubetest.OnNode(s.nodes[0].Name))))}
	return s
}

func installFreezes(t *testing.T, server *kubetest.Cluster) {
	t.Helper()
	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := runCLI(nil, "manifests", "--image", "registry.example.com/gpupool:1")
	if code != 0 {
		t.Fatalf("gpupool manifests ended with %d: %s", code, stderr)
	}
	for decoder := yaml.NewYAMLToJSONDecoder(strings.NewReader(stdout)); ; {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(&o.Object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		resource, admission := map[string]string{
			"ValidatingAdmissionPolicy": "validatingadmissionpolicies", "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
		}[o.GetKind()]
		if !admission {
			continue
		}
		version, err := schema.ParseGroupVersion(o.GetAPIVersion())
		if err != nil {
			t.Fatal(err)
		}
		// Other tests freeze by them, too: what is there stays as it is.
		if _, err := client.Resource(version.WithResource(resource)).Create(t.Context(), o, metav1.CreateOptions{}); err != nil &&
			!apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
}

func (s *tenancy) user(name string) kubernetes.Interface {
	s.t.Helper()
	config := s.server.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: s.userName(name), Groups: []string{"system:authenticated"}}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

func (s *tenancy) userName(name string) string { return name + "@" + s.namespace }

func (s *tenancy) allow(name string, role rbacv1.RoleRef) {
	s.t.Helper()
	kubetest.Create(s.t, s.server, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}, RoleRef: role,
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: s.userName(name)}},
	})
}

// may asks the API server whether a user may do something; nil if so.
func may(ctx context.Context, user kubernetes.Interface, namespace, verb, group, resource, subresource string) error {
	review := &authorizationv1.SelfSubjectAccessReview{}
	review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
		Namespace: namespace, Verb: verb, Group: group, Resource: resource, Subresource: subresource,
	}
	answer, err := user.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err == nil && !answer.Status.Allowed {
		err = fmt.Errorf("%s on %s is not allowed", verb, resource)
	}
	return err
}

// declare declares a budget from JSON, with the names of a user's arguments. It overrides parts
// of a default.
func (s *tenancy) declare(name string, selector budget.Selector, document string) {
	s.t.Helper()
	d := budget.Declaration{
		Name: name, GPUHours: "0.2", Window: "24h", Thresholds: []int{100}, Selector: selector,
		Enforce: budget.Enforcement{Action: budget.Evict, GracePeriod: "0s"},
	}
	if document != "" {
		if err := json.Unmarshal([]byte(document), &d); err != nil {
			s.t.Fatal(err)
		}
	}
	state, err := s.process().Budgets().Create(s.t.Context(), d.WithDefaults())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _, _ = s.process().Budgets().Delete(context.Background(), state.Declaration) })
}

// declareOthers declares the others' budget. It selects only by a label, in all namespaces, has
// 12 minutes of a GPU, and evicts beyond it.
func (s *tenancy) declareOthers() {
	s.declare("others", s.ofTeam(), "")
}

// ofTeam selects only by the others' label.
func (s *tenancy) ofTeam() budget.Selector {
	return budget.Selector{MatchLabels: map[string]string{teamKey: s.others}}
}

// declareOwn declares the tenant's own budget, of all his pods.
func (s *tenancy) declareOwn(document string) {
	s.declare("own", budget.Selector{Namespaces: []string{s.namespace}}, document)
}

type turn struct {
	reconcile.Report
	text string
}

// turn runs gpupool reconcile, and fails the test where that touches others.
func (s *tenancy) turn() turn {
	s.t.Helper()
	code, stdout, stderr := runCLI(s.environment(), "reconcile", "-o", "json")
	if code != 0 && !(s.ineffective && strings.Contains(stderr, " cannot be paused: ")) {
		s.t.Fatalf("gpupool reconcile ended with %d\n%s%s", code, stdout, stderr)
	}
	r := turn{text: stdout + stderr}
	// Only the parts of a report that tests need are decoded.
	var parts struct {
		Budgets   []budgets.Report
		Warnings  reason.Reasons
		Decisions []json.RawMessage
	}
	if err := json.Unmarshal([]byte(stdout), &parts); err != nil {
		s.t.Fatal(err)
	}
	r.Budgets, r.Warnings = parts.Budgets, parts.Warnings
	s.stillThere(s.innocent...)
	return r
}

func (s *tenancy) environment() map[string]string {
	return map[string]string{"GPUPOOL_STORE": "directory:" + s.dir, "KUBECONFIG": s.server.Kubeconfig()}
}

func runCLI(env map[string]string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = cli.Run(processtest.Command(env, &out, &errs, args...))
	return code, out.String(), errs.String()
}

func (s *tenancy) budget(r turn, name string) budgets.Report {
	s.t.Helper()
	at := slices.IndexFunc(r.Budgets, func(b budgets.Report) bool { return b.Name == name })
	if at < 0 || !r.Budgets[at].Observed {
		s.t.Fatalf("the run tells nothing of the budget %s:\n%s", name, r.text)
	}
	return r.Budgets[at]
}

// turnUntil runs until a run is as asked, for half a minute at most.
func (s *tenancy) turnUntil(what string, is func(turn) bool) turn {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(400 * time.Millisecond) {
		r := s.turn()
		if is(r) {
			return r
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("no run came to %s; the last one:\n%s", what, r.text)
		}
	}
}

// exceeded asks whether a budget is used up, and enforced in some way.
func (s *tenancy) exceeded(name string) func(turn) bool {
	return func(r turn) bool {
		b := s.budget(r, name)
		return *b.Exceeded && len(b.Enforced)+len(b.Effects) > 0
	}
}

// wantUsage compares what a budget counted with what its pods held, to 1%.
func (s *tenancy) wantUsage(r turn, name string, of func(*held) bool) {
	s.t.Helper()
	b := s.budget(r, name)
	want := s.truth.milliGPUSeconds(b.AsOf, of)
	if off := b.ConsumedMilliGPUSeconds - want; max(off, -off) > want/100+1000 {
		s.t.Errorf("the budget %s counted %d milli-GPU-seconds, and its pods held %d; by pod: %s; the run warned: %q",
			name, b.ConsumedMilliGPUSeconds, want, strings.Join(s.truth.apart(time.Now(), s.charged(name), of), ", "),
			append(r.Warnings, b.Warnings...).Texts())
	}
}

func (s *tenancy) ofOthers(h *held) bool { return h.bound[teamKey] == s.others }

func (s *tenancy) ofTenant(h *held) bool { return h.last.Namespace == s.namespace }

func (s *tenancy) onNode(n int) kubetest.PodOption { return kubetest.BoundTo(s.nodes[n].Name) }

func (s *tenancy) create(as kubernetes.Interface, name string, options ...kubetest.PodOption) *corev1.Pod {
	s.t.Helper()
	pod, err := as.CoreV1().Pods(s.namespace).Create(s.t.Context(), kubetest.Pod(s.namespace, name, options...), metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return pod
}

// pod is a pod of the tenant's as it is now; nil where it is gone.
func (s *tenancy) pod(name string) *corev1.Pod {
	s.t.Helper()
	pod, err := s.server.Client().CoreV1().Pods(s.namespace).Get(s.t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return pod
}
