package helm

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestInstallUpgradeUninstall installs the chart with two budgets and no cloud account, runs its pods
// as processes, upgrades it, and uninstalls it with nothing left. Nodes start no containers there:
// images, probes by a kubelet, network policies and DNS are not tested.
func TestInstallUpgradeUninstall(t *testing.T) {
	t.Parallel()
	c := start(t)
	first := c.install(set(t, "budgets.team-a.gpuHours=100", "budgets.team-a.selector.matchLabels.team=a", "budgets.team-b.gpuHours=5",
		"budgets.team-b.selector.namespaces={ml}"))
	d, err := c.client.AppsV1().Deployments(runNamespace).Get(t.Context(), "gpupool-serve", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := c.pod(d.Spec.Template.Spec)
	want(t, p.initialize(), "created budget/team-a", "created budget/team-b")
	c.bindReader()
	certificate := c.certificate()
	s := p.serve(d.Spec.Template.Spec.Containers[0], certificate)
	for _, path := range []string{"/livez", "/readyz"} {
		if code, body := s.get(path, ""); code != http.StatusOK {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if code, _ := s.get("/metrics", ""); code != http.StatusUnauthorized {
		t.Errorf("metrics without a token: %d", code)
	}
	if code, body := s.get("/api/v1/budgets", c.token("default", "default")); code != http.StatusOK || !strings.Contains(body, `"team-a"`) {
		t.Errorf("the budgets: %d %s", code, body)
	}
	c.eventually(func() error { // once the first run is done
		code, body := s.get("/metrics", c.token("default", "default"))
		if code != http.StatusOK || !strings.Contains(body, `gpupool_budget_limit_gpu_hours{name="team-a"} 100`) {
			return fmt.Errorf("the metrics: %d %s", code, body)
		}
		return nil
	})
	s.stop()

	c.takeSlot()
	second := c.upgrade(set(t, "mode=cronjob", "enforcement=evict", "budgets.team-a.gpuHours=200", "budgets.team-a.selector.matchLabels.team=a"))
	c.checkSlot()
	job, err := c.client.BatchV1().CronJobs(runNamespace).Get(t.Context(), "gpupool-reconcile", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.eventually(func() error { return c.gone(parse(t, first.Manifest)["Deployment/"+runNamespace+"/gpupool-serve"]) })
	p = c.pod(job.Spec.JobTemplate.Spec.Template.Spec)
	want(t, p.initialize(), "updated budget/team-a", "deleted budget/team-b")
	p.run(job.Spec.JobTemplate.Spec.Template.Spec.Containers[0])

	c.upgrade(set(t, "budgets.team-a.gpuHours=200", "budgets.team-a.selector.matchLabels.team=a"))
	again := c.certificate()
	c.upgrade(set(t, "budgets.team-a.gpuHours=300", "budgets.team-a.selector.matchLabels.team=a"))
	if !bytes.Equal(again, c.certificate()) {
		t.Error("an upgrade replaces the certificate")
	}

	c.uninstall()
	for _, r := range []string{first.Manifest, second.Manifest} {
		for _, o := range parse(t, r) {
			c.eventually(func() error { return c.gone(o) })
		}
	}
	c.eventually(c.nothing)
}

// want reports lines that were not printed.
func want(t *testing.T, printed string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(printed, line+"\n") {
			t.Errorf("%q was not printed, but %s", line, printed)
		}
	}
}

// bindReader makes the account default of the namespace default a reader of the API.
func (c *cluster) bindReader() {
	c.t.Helper()
	_, err := c.client.RbacV1().ClusterRoleBindings().Create(c.t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: storeNamespace + "-api-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "default"}},
	}, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
}

// certificate returns the certificate that the chart created.
func (c *cluster) certificate() []byte {
	c.t.Helper()
	secret, err := c.client.CoreV1().Secrets(runNamespace).Get(c.t.Context(), "gpupool-serve-tls", metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return secret.Data[corev1.TLSCertKey]
}

const takenSlot = "gpupool-freeze-03"

// takeSlot labels a slot as a run does that freezes a budget.
func (c *cluster) takeSlot() {
	c.t.Helper()
	_, err := c.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Patch(c.t.Context(), takenSlot, types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"gpupool/freeze-slot":"03"}},"spec":{"matchResources":{"namespaceSelector":{"matchLabels":{"team":"a"}}}}}`),
		metav1.PatchOptions{FieldManager: "gpupool"})
	if err != nil {
		c.t.Fatal(err)
	}
}

// checkSlot reports a slot that an upgrade freed.
func (c *cluster) checkSlot() {
	c.t.Helper()
	slot, err := c.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Get(c.t.Context(), takenSlot, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	if slot.Labels["gpupool/freeze-slot"] != "03" || slot.Spec.MatchResources == nil || slot.Spec.MatchResources.NamespaceSelector.MatchLabels["team"] != "a" {
		c.t.Errorf("an upgrade lifts a freeze: %v %+v", slot.Labels, slot.Spec)
	}
}

// nothing reports what a release left: namespaces, cluster-wide objects, and what Helm stores.
func (c *cluster) nothing() error {
	ctx := c.t.Context()
	var names []string
	add := func(list metav1.Object) {
		if strings.HasPrefix(list.GetName(), "gpupool") {
			names = append(names, list.GetName())
		}
	}
	namespaces, err := c.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	roles, errRoles := c.client.RbacV1().ClusterRoles().List(ctx, metav1.ListOptions{})
	bindings, errBindings := c.client.RbacV1().ClusterRoleBindings().List(ctx, metav1.ListOptions{})
	policies, errPolicies := c.client.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(ctx, metav1.ListOptions{})
	slots, errSlots := c.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(ctx, metav1.ListOptions{})
	secrets, errSecrets := c.client.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
	if err := errors.Join(err, errRoles, errBindings, errPolicies, errSlots, errSecrets); err != nil {
		return err
	}
	for n := range namespaces.Items {
		add(&namespaces.Items[n])
	}
	for n := range roles.Items {
		add(&roles.Items[n])
	}
	for n := range bindings.Items {
		add(&bindings.Items[n])
	}
	for n := range policies.Items {
		add(&policies.Items[n])
	}
	for n := range slots.Items {
		add(&slots.Items[n])
	}
	for _, secret := range secrets.Items {
		names = append(names, "the Secret "+secret.Name)
	}
	if len(names) > 0 {
		return fmt.Errorf("these are left: %v", names)
	}
	return nil
}

// server is a running gpupool serve.
type server struct {
	t      *testing.T
	url    string
	client *http.Client
	cancel context.CancelFunc
	ended  chan error
}

// serve starts a container, and trusts its certificate as the ServiceMonitor does.
func (p *pod) serve(of corev1.Container, certificate []byte) *server {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	command := p.command(ctx, of)
	stdout, err := command.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	if err := command.Start(); err != nil {
		p.t.Fatal(err)
	}
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	_, port, ready := strings.Cut(strings.TrimSpace(line), "https://[::]:")
	s := &server{t: p.t, url: "https://127.0.0.1:" + port, cancel: cancel, ended: make(chan error, 1)}
	go func() { s.ended <- command.Wait() }()
	p.t.Cleanup(s.stop)
	if !ready {
		s.stop()
		p.t.Fatalf("it was not ready: %s%s", line, &stderr)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(certificate)
	s.client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: trusted, ServerName: "gpupool-serve." + runNamespace + ".svc", MinVersion: tls.VersionTLS12,
	}}}
	return s
}

// stop kills the server, and waits for its end.
func (s *server) stop() {
	if s.cancel == nil {
		return
	}
	s.cancel()
	s.cancel = nil
	<-s.ended
}

func (s *server) get(path, token string) (int, string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := s.client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}
