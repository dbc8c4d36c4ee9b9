package upgrade

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// commands returns the commands of warnings: each is a line of its own after the text.
func commands(warnings []string) []string {
	var list []string
	for _, w := range warnings {
		for line := range strings.Lines(w) {
			if strings.HasPrefix(line, "kubectl ") {
				list = append(list, strings.TrimSuffix(line, "\n"))
			}
		}
	}
	return list
}

// declare declares a budget, as terraform apply does.
func (u *upgraded) declare(dir, name string) {
	u.Helper()
	_, err := u.place(dir).Process(u, "test").Budgets().Create(u.Context(), budget.Declaration{
		Name: name, GPUHours: "100", Window: "24h", Thresholds: []int{100}, Selector: budget.Selector{Namespaces: []string{formerNamespace}},
		Enforce: budget.Enforcement{Action: budget.Pause, GracePeriod: "0s"},
	}.WithDefaults())
	if err != nil {
		u.Fatal(err)
	}
}

// pausedByTheFormer adds a workload of each other kind that an older gpupool paused, and
// one that was started since.
func (u *upgraded) pausedByTheFormer() {
	u.Helper()
	d := stored[appsv1.Deployment](u.T, "deployment.yaml")
	meta := func(name, replicas string) metav1.ObjectMeta {
		m := *d.ObjectMeta.DeepCopy()
		m.Name, m.Annotations = name, map[string]string{"gpupool/replicas": replicas}
		return m
	}
	template := d.Spec.Template
	kubetest.Create(u.T, u.server, &appsv1.StatefulSet{ObjectMeta: meta("db", "3"), Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(0)), Selector: d.Spec.Selector, Template: template,
	}})
	kubetest.Create(u.T, u.server, &appsv1.Deployment{ObjectMeta: meta("web", "9"), Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(1)), Selector: d.Spec.Selector, Template: template,
	}})
	template.Spec.RestartPolicy = "Never"
	kubetest.Create(u.T, u.server, &batchv1.Job{ObjectMeta: meta("train", "0"), Spec: batchv1.JobSpec{Suspend: new(true), Template: template}})
}

// wantResumed fails unless what was paused is as before its pause, and without marks; what
// was started since stays as it is.
func (u *upgraded) wantResumed() {
	u.Helper()
	got := strings.Fields(u.server.Shell(u.T, "kubectl get deployments,statefulsets,jobs --namespace "+formerNamespace+
		` --output 'jsonpath={range .items[*]}{.metadata.name}:{.spec.replicas}{.spec.suspend}{"\n"}{end}'`))
	slices.Sort(got)
	if diff := cmp.Diff([]string{"db:3", "serve:2", "train:false", "web:1"}, got); diff != "" {
		u.Errorf("workloads (-want +got):\n%s", diff)
	}
	left := u.server.Shell(u.T, "kubectl get deployments,statefulsets,jobs --all-namespaces --selector gpupool/paused-by --ignore-not-found --output name"+
		" && kubectl get validatingadmissionpolicybindings --field-selector metadata.name="+formerBinding+" --ignore-not-found --output name")
	if left != "" {
		u.Errorf("left are %s", left)
	}
}

// TestAnOlderStoreThatWasMovedAwayIsReplaced follows the remedy of each document's error, and
// then those of the warnings about the cluster.
func TestAnOlderStoreThatWasMovedAwayIsReplaced(t *testing.T) {
	t.Parallel()
	u := newUpgraded(t)
	dir, away := t.TempDir()+"/store", t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/store")); err != nil {
		t.Fatal(err)
	}
	u.run(dir, false)
	for _, name := range []string{"budgets", "spot_pools", "journals", "ledger"} {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(away, name)); err != nil {
			t.Fatal(err)
		}
	}
	u.declare(dir, "team-a")
	u.declare(dir, "team-b")
	report := u.runOwn(dir)
	for _, b := range report.Budgets {
		if b.Error != nil {
			t.Errorf("the budget %s: %s", b.Name, b.Error.String())
		}
	}
	u.warns(report, remedies)
	for _, c := range commands(report.Warnings.Texts()) {
		u.server.Shell(t, c)
	}
	if report := u.runOwn(dir); len(report.Budgets) != 2 || strings.Contains(strings.Join(report.Warnings.Texts(), "\n"), "older gpupool") {
		t.Errorf("%d budgets are reported, and it warns of %q", len(report.Budgets), report.Warnings)
	}
	if code, findings := u.repair(dir); code != 0 {
		t.Errorf("store repair --dry-run ended with %d: %s", code, findings)
	}
}
