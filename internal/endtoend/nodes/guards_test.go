package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	policyv1 "k8s.io/client-go/kubernetes/typed/policy/v1"
)

// counted waits until the controller counts as many healthy pods of a disruption budget, and
// allowed until it allows as many evictions.
func counted(guards policyv1.PodDisruptionBudgetInterface, name string, healthy int32) func(context.Context) error {
	return func(ctx context.Context) error {
		g, err := guards.Get(ctx, name, metav1.GetOptions{})
		if err == nil && (g.Status.CurrentHealthy != healthy || g.Status.ObservedGeneration != g.Generation) {
			err = fmt.Errorf("%d are healthy", g.Status.CurrentHealthy)
		}
		return err
	}
}

func allowed(guards policyv1.PodDisruptionBudgetInterface, name string, evictions int32) func(context.Context) error {
	return func(ctx context.Context) error {
		g, err := guards.Get(ctx, name, metav1.GetOptions{})
		if err == nil && g.Status.DisruptionsAllowed != evictions {
			err = fmt.Errorf("%d are allowed", g.Status.DisruptionsAllowed)
		}
		return err
	}
}

func cordoned(r *rig, ids []string) string {
	r.t.Helper()
	var found []string
	for _, id := range ids {
		if n := r.node(id); n != nil && n.Spec.Unschedulable {
			found = append(found, id)
		}
	}
	if len(found) != 1 {
		r.t.Fatalf("the nodes of %v are cordoned, not one", found)
	}
	return found[0]
}

func without(ids []string, gone ...string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(gone, id) })
}

func join(lines []string) string { return strings.Join(lines, "\n") }
