package spotpool_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// place is a store that a test looks into from outside.
type place struct {
	location string
	// contents are everything in it, with what changes when it is written; nil
	// where there is no store.
	contents func() map[string]string
	remove   func()
}

// inDirectory is the world's own store.
func inDirectory(t *testing.T, w *providertest.World) place {
	t.Helper()
	return place{
		location: "directory:" + w.StoreDir,
		remove:   func() { loseStore(t, w) },
		contents: func() map[string]string {
			found := map[string]string{}
			err := filepath.WalkDir(w.StoreDir, func(path string, entry fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := entry.Info()
				if err != nil {
					return err
				}
				found[path] = fmt.Sprint(info.Mode(), info.ModTime())
				if info.Mode().IsRegular() {
					data, err := os.ReadFile(path)
					found[path] += fmt.Sprintf(" %x", sha256.Sum256(data))
					return err
				}
				return nil
			})
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				t.Fatal(err)
			}
			return found
		},
	}
}

// inNamespace is a namespace of the world's cluster that does not exist yet.
func inNamespace(t *testing.T, w *providertest.World) place {
	t.Helper()
	api := w.Cluster.Client()
	name := fmt.Sprintf("store-%x", sha256.Sum256([]byte(w.StoreDir)))[:20]
	remove := func() {
		err := api.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
	t.Cleanup(remove)
	return place{
		location: "kubernetes:" + name,
		remove: func() { // the namespace stays, since it would take its time to go
			ctx, all, of := t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}
			if err := errors.Join(
				api.CoreV1().ConfigMaps(name).DeleteCollection(ctx, all, of), api.CoreV1().Secrets(name).DeleteCollection(ctx, all, of),
				api.CoordinationV1().Leases(name).DeleteCollection(ctx, all, of),
			); err != nil {
				t.Fatal(err)
			}
		},
		contents: func() map[string]string {
			ctx, of := t.Context(), metav1.ListOptions{}
			if _, err := api.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
				return nil
			}
			maps, err1 := api.CoreV1().ConfigMaps(name).List(ctx, of)
			secrets, err2 := api.CoreV1().Secrets(name).List(ctx, of)
			leases, err3 := api.CoordinationV1().Leases(name).List(ctx, of)
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			found := map[string]string{}
			add := func(kind string, o metav1.ObjectMeta) {
				if o.Name != "kube-root-ca.crt" { // the cluster's own
					found[kind+"/"+o.Name] = o.ResourceVersion
				}
			}
			for _, o := range maps.Items {
				add("configmaps", o.ObjectMeta)
			}
			for _, o := range secrets.Items {
				add("secrets", o.ObjectMeta)
			}
			for _, o := range leases.Items {
				add("leases", o.ObjectMeta)
			}
			return found
		},
	}
}

// places are a world each with its store in a directory and in a namespace.
var places = map[string]func(t *testing.T) (*providertest.World, place){
	"directory": func(t *testing.T) (*providertest.World, place) {
		t.Helper()
		w := providertest.New(t)
		return w, inDirectory(t, w)
	},
	"kubernetes": func(t *testing.T) (*providertest.World, place) {
		t.Helper()
		w := providertest.NewWithCluster(t)
		return w, inNamespace(t, w)
	},
}

const looks = `
data "gpupool_spot_offers" "t4" {
  gpu_type = "T4"
}
`

// unchanged fails where what is done writes anything to the store.
func unchanged(t *testing.T, p place, what string, do func()) {
	t.Helper()
	before := p.contents()
	do()
	if diff := cmp.Diff(before, p.contents()); diff != "" {
		t.Errorf("%s wrote to the store:\n%s", what, diff)
	}
}

// Read-only operations write nothing: not without a store, not with something to report, and not
// after the store was lost.
func TestPlansWriteNothing(t *testing.T) {
	t.Parallel()
	for name, start := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, store := start(t)
			d := w.Terraform()
			d.Setenv("GPUPOOL_STORE", store.location)
			d.Write(pool() + looks)
			terraform := func(args ...string) {
				t.Helper()
				unchanged(t, store, "terraform "+strings.Join(args, " "), func() { d.Must("terraform", args...) })
			}
			gpupool := func(code int, args ...string) {
				t.Helper()
				unchanged(t, store, "gpupool "+strings.Join(args, " "), func() {
					if r := d.Run("gpupool", args...); r.Code != code {
						t.Errorf("gpupool %s ended with %d, not %d: %s%s", strings.Join(args, " "), r.Code, code, r.Stdout, r.Stderr)
					}
				})
			}
			terraform("validate")
			terraform("plan", "-input=false", "-out=first")
			if store.contents() != nil {
				t.Fatalf("a plan made the store: %v", store.contents())
			}
			gpupool(1, "reconcile")

			d.Must("terraform", "apply", "-input=false", "first")
			d.Write(pool() + looks + "data \"gpupool_spot_pool\" \"train\" {\n  name = \"train\"\n}\n")
			reclaim(t, w, 1)
			if _, err := w.Sim.Server.StepClock(time.Hour); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"validate"}, {"plan", "-input=false"}, {"plan", "-input=false", "-refresh-only"}, {"plan", "-input=false", "-destroy"},
				{"plan", "-input=false", "-refresh=false"}, {"plan", "-input=false", "-replace=" + address}, {"refresh"},
				{"apply", "-refresh-only", "-auto-approve", "-input=false"},
			} {
				terraform(args...)
			}
			state := filepath.Join(d.Path, "terraform.tfstate")
			gpupool(0, "status")
			gpupool(0, "reconcile", "--dry-run")
			gpupool(0, "reconcile", "--dry-run", "--from-state", state)
			imports(t, w, store)

			store.remove()
			lost := store.contents()
			gpupool(1, "reconcile")
			for _, args := range [][]string{{"plan", "-input=false"}, {"apply", "-refresh-only", "-auto-approve", "-input=false"}} {
				terraform(args...)
			}
			unchanged(t, store, "a plan to destroy", func() {
				if r := d.Run("terraform", "plan", "-input=false", "-destroy"); r.Code != 1 || !strings.Contains(r.Stderr, "Spot pool is not in this store") {
					t.Errorf("a plan to destroy by a lost store ended with %d: %s%s", r.Code, r.Stdout, r.Stderr)
				}
			})
			gpupool(0, "reconcile", "--dry-run", "--from-state", state)
			imports(t, w, store)
			if diff := cmp.Diff(lost, store.contents()); diff != "" {
				t.Errorf("the lost store:\n%s", diff)
			}
			gpupool(1, "reconcile")
			d.Apply()
			if r := d.Run("gpupool", "reconcile"); r.Code != 0 {
				t.Errorf("a run after the apply ended with %d: %s%s", r.Code, r.Stdout, r.Stderr)
			}
		})
	}
}

// imports plans to import the pool into another state.
func imports(t *testing.T, w *providertest.World, store place) {
	t.Helper()
	other := w.Terraform()
	other.Setenv("GPUPOOL_STORE", store.location)
	other.Write(pool() + fmt.Sprintf("import {\n  to = %s\n  id = \"ap-singapore/train\"\n}\n", address))
	unchanged(t, store, "a plan of an import", func() { other.Must("terraform", "plan", "-input=false") })
	other.Write("")
}

// A plan of a pool whose store is missing says so first: its instances run, and gpupool does
// not manage them.
func TestPlanTellsOfALostStore(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	d := w.Terraform()
	d.Write(pool())
	if warnings, _ := d.Plan(); slices.ContainsFunc(warnings, isLostStore) {
		t.Errorf("a first plan warns of a lost store: %v", warnings)
	}
	d.Apply()
	d.Write(pool() + "data \"gpupool_spot_pool\" \"train\" {\n  name = \"train\"\n}\n")
	loseStore(t, w)
	for _, args := range [][]string{nil, {"-refresh-only"}} {
		warnings, _ := d.Plan(args...)
		n := slices.IndexFunc(warnings, isLostStore)
		if n < 0 {
			t.Errorf("a plan %v does not warn of the lost store: %v", args, warnings)
			continue
		}
		for _, part := range []string{w.StoreDir, "gpupool reconcile refuses to run", "instances that are still running", "Applying a plan"} {
			if !strings.Contains(warnings[n].Detail, part) {
				t.Errorf("%q is not in %q", part, warnings[n].Detail)
			}
		}
	}
	warnings, planned := d.Plan()
	if diff := cmp.Diff(providertest.PlannedActions{Change: "update", Before: []string{}, After: []string{"record the pool in the store"}},
		planned[address]); diff != "" {
		t.Errorf("planned, with %v:\n%s", warnings, diff)
	}
	d.Apply() // a pool without a record is not destroyed
}

func isLostStore(d providertest.Message) bool { return d.Summary == "Store is missing" }
