package stockpool_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// use labels one of the pool's pods as in use, and returns its name.
func (s *scene) use() string {
	s.t.Helper()
	ctx, pods := context.Background(), s.Cluster.Client().CoreV1().Pods(s.namespace)
	list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "gpupool/stock-pool=pool-g1,!session"})
	if err != nil || len(list.Items) == 0 {
		s.t.Fatalf("no pod is there to be used: %v", err)
	}
	name := list.Items[0].Name
	if _, err := pods.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"session":"alice"}}}`), metav1.PatchOptions{}); err != nil {
		s.t.Fatal(err)
	}
	return name
}

// TestPlansNamePodsInUseThatEnd, whichever way the plan ends the pool.
func TestPlansNamePodsInUseThatEnd(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	d := s.Terraform()
	config := attributes{"allocated_selector": `"session"`}
	d.Write(s.pool(config))
	d.Apply()
	warned := func(doing, words string, args ...string) {
		t.Helper()
		warnings, _ := d.Plan(args...)
		ends := slices.DeleteFunc(slices.Clone(warnings), func(w providertest.Message) bool { return !strings.Contains(w.Summary, "to be deleted") })
		if words == "" {
			if len(ends) > 0 {
				t.Errorf("%v: it warns %+v", args, ends)
			}
			return
		}
		if len(ends) != 1 || ends[0].Detail != doing+" it deletes "+words+"." {
			t.Errorf("%v: it warns %+v, want %s it deletes %s", args, ends, doing, words)
		}
	}
	warned("", "")
	warned("Destroying", "2 pods, none of them in use", "-destroy")
	used := s.use()
	words := fmt.Sprintf("2 pods, 1 of them in use: %s", used)
	warned("Destroying", words, "-destroy")
	d.Must("terraform", "taint", address)
	replaced := func(w providertest.Message) bool {
		return strings.Contains(w.Detail, "it is destroyed first.") && strings.Contains(w.Detail, "Replacing it deletes "+words+".")
	}
	if warnings, _ := d.Plan(); !slices.ContainsFunc(warnings, replaced) {
		t.Errorf("a plan of a tainted one warns %+v", warnings)
	}
	d.Must("terraform", "untaint", address)
	d.Write(s.pool(config, attributes{"name": `"pool-g2"`}))
	warned("Replacing", words)
	d.Write(s.pool(config, attributes{"on_destroy": `"retain"`}))
	d.Apply()
	warned("", "", "-destroy")
}
