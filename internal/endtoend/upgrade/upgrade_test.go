package upgrade

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/endtoend/processtest"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// The contents of testdata, by a build long before the first release.
const (
	formerCluster   = "8f6bc1c1-93c7-47d4-87a9-7d4a8a4de0eb"
	formerNamespace = "testzz-dr2dg"
	formerBudgetUID = "f9137fcb1c87eb442ba9431c4f89fa2c"
	formerBinding   = "gpupool-team-a-f9137fcb"
)

var remedies = []string{
	"kubectl delete validatingadmissionpolicybinding " + formerBinding,
	"kubectl scale deployment/serve --namespace " + formerNamespace + " --replicas 2",
	"kubectl label deployment/serve --namespace " + formerNamespace + " gpupool/paused-by-",
}

// upgraded is a cluster and a cloud as the older gpupool left them.
type upgraded struct {
	*testing.T
	server *kubetest.Cluster
	sim    *cvmsimtest.Sim
}

// theFormer is the cluster, by the UID of the one in which testdata was made.
type theFormer struct{ reconcile.Cluster }

func (theFormer) UID(context.Context) (string, error) { return formerCluster, nil }

func newUpgraded(t *testing.T) *upgraded {
	t.Helper()
	u := &upgraded{t, kubetest.StartOwn(t), cvmsimtest.Start(t)}
	kubetest.Create(t, u.server, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: formerNamespace}})
	kubetest.Create(t, u.server, kubecluster.FreezePolicy())
	for _, slot := range kubecluster.FreezeSlots(len(kubecluster.FreezeSlotNames())) {
		kubetest.Create(t, u.server, slot)
	}
	kubetest.Create(t, u.server, stored[admissionv1.ValidatingAdmissionPolicyBinding](t, "binding.yaml"))
	kubetest.Create(t, u.server, stored[appsv1.Deployment](t, "deployment.yaml"))
	return u
}

func stored[T any](t *testing.T, name string) *T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	o := new(T)
	if err := yaml.Unmarshal(data, o); err != nil {
		t.Fatal(err)
	}
	return o
}

func (u *upgraded) place(dir string) processtest.Place {
	return processtest.Place{Dir: dir, Kubeconfig: u.server.Kubeconfig(), CVM: u.sim.URL}
}

func (u *upgraded) run(dir string, dry bool) reconcile.Report {
	u.Helper()
	p := u.place(dir).Process(u, "test")
	former := p.Cluster
	p.Cluster = func(ctx context.Context) (reconcile.Cluster, error) {
		c, err := former(ctx)
		return theFormer{c}, err
	}
	report, err := p.Runner().Run(u.Context(), reconcile.RunOptions{DryRun: dry})
	if err != nil {
		u.Fatal(err)
	}
	return report
}

// runOwn runs once in the cluster by its own UID.
func (u *upgraded) runOwn(dir string) reconcile.Report {
	u.Helper()
	report, err := u.place(dir).Process(u, "test").Runner().Run(u.Context(), reconcile.RunOptions{})
	if err != nil {
		u.Fatal(err)
	}
	return report
}

// TestAnOlderStoreIsCalledOlder has the store of an older gpupool, with a launch of unknown
// outcome. Nothing is launched, each document is reported as older, and a warning reports what
// is in force.
func TestAnOlderStoreIsCalledOlder(t *testing.T) {
	t.Parallel()
	u := newUpgraded(t)
	dir := t.TempDir() + "/store"
	if err := os.CopyFS(dir, os.DirFS("testdata/store")); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		report := u.run(dir, dry)
		if len(report.Budgets) != 2 || len(report.SpotPools) != 1 {
			t.Fatalf("%d budgets and %d spot pools are reported", len(report.Budgets), len(report.SpotPools))
		}
		for _, b := range report.Budgets {
			u.isOlder("the budget "+b.Name, b.Error.String())
		}
		u.isOlder("the spot pool", report.SpotPools[0].Error.String())
		u.warns(report, remedies)
	}
	u.everyDocumentIsOlder(dir)
	for _, call := range u.sim.Server.Calls() {
		if call.Action == "RunInstances" {
			t.Error("something is launched")
		}
	}
}

// TestLeftoversOfAnOlderVersionAreReported has a new store. Remaining enforcement is neither lifted
// nor overlooked, until an operator follows the warnings.
func TestLeftoversOfAnOlderVersionAreReported(t *testing.T) {
	t.Parallel()
	u := newUpgraded(t)
	dir := t.TempDir() + "/store"
	u.declare(dir, "team-a")
	u.pausedByTheFormer()
	report := u.runOwn(dir)
	u.warns(report, remedies)

	cluster, err := u.place(dir).Process(t, "test").Cluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var unrecognized *kubecluster.UnrecognizedFreezeError
	if err := cluster.Unfreeze(t.Context(), formerBudgetUID); !errors.As(err, &unrecognized) || unrecognized.Name != formerBinding {
		t.Errorf("its freeze is lifted: %v", err)
	}

	for _, command := range commands(report.Warnings.Texts()) {
		u.server.Shell(t, command)
	}
	if report := u.runOwn(dir); strings.Contains(strings.Join(report.Warnings.Texts(), "\n"), "older gpupool") {
		t.Errorf("what was removed is warned of: %q", report.Warnings)
	}
	u.wantResumed()
}

// repair checks a store as a person does.
func (u *upgraded) repair(dir string) (code int, text string) {
	u.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Run(processtest.Command(u.place(dir).Environment(), &stdout, &stderr, "store", "repair", "--dry-run"))
	return code, stdout.String() + stderr.String()
}

// everyDocumentIsOlder fails unless the check of a store calls each document older.
func (u *upgraded) everyDocumentIsOlder(dir string) {
	u.Helper()
	code, text := u.repair(dir)
	if code != 3 {
		u.Errorf("store repair --dry-run ended with %d", code)
	}
	err := fs.WalkDir(os.DirFS("testdata/store"), ".", func(path string, d fs.DirEntry, err error) error {
		// A run replaces statuses, and the ledger is named as a whole.
		if err != nil || d.IsDir() || path == "store.json" || strings.HasPrefix(path, "statuses/") || strings.HasPrefix(path, "ledger/") {
			return err
		}
		u.isOlder(path, lineOf(text, strings.TrimSuffix(path, ".json")))
		return nil
	})
	if err != nil {
		u.Fatal(err)
	}
	u.isOlder("the ledger", lineOf(text, "ledger/"+formerCluster))
}

func lineOf(text, name string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, name) {
			return line
		}
	}
	return text
}

// isOlder fails unless a message calls something older, and has the remedy.
func (u *upgraded) isOlder(what, message string) {
	u.Helper()
	if !strings.Contains(message, "was written by an older gpupool") || !strings.Contains(strings.ToLower(message), "move ") ||
		strings.Contains(message, "remove the header") {
		u.Errorf("%s: %s", what, message)
	}
}

func (u *upgraded) warns(report reconcile.Report, texts []string) {
	u.Helper()
	warnings := strings.Join(report.Warnings.Texts(), "\n")
	for _, text := range texts {
		if !strings.Contains(warnings, text) {
			u.Errorf("no warning says %q:\n%s", text, warnings)
		}
	}
}
