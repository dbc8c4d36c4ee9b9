package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// How builds from before the first release marked what they paused.
const (
	formerLabelPausedBy      = "gpupool/paused-by"
	formerAnnotationReplicas = "gpupool/replicas"
)

// Unrecognized lists the bindings and workloads with a label of gpupool that this one
// gives no meaning. With an error it lists what was found nevertheless.
func (c *enforcer) Unrecognized(ctx context.Context) ([]budget.Unrecognized, error) {
	_, freezes, err := c.freezeSlots(ctx, LabelBudgetUID)
	var found []budget.Unrecognized
	for _, b := range freezes {
		found = append(found, unrecognizedFreeze(b))
	}
	errs := []error{err}
	// From the cache of the API server: what is sought stays until a person removes it.
	options := metav1.ListOptions{LabelSelector: formerLabelPausedBy, ResourceVersion: "0"}
	for _, of := range []struct {
		resource string
		list     func() (runtime.Object, error)
	}{
		{"deployments", func() (runtime.Object, error) { return c.kube.AppsV1().Deployments("").List(ctx, options) }},
		{"statefulsets", func() (runtime.Object, error) { return c.kube.AppsV1().StatefulSets("").List(ctx, options) }},
		{"jobs", func() (runtime.Object, error) { return c.kube.BatchV1().Jobs("").List(ctx, options) }},
	} {
		workloads, err := of.list()
		if err != nil {
			errs = append(errs, kubeclient.Wrap("list", of.resource, err))
			continue
		}
		errs = append(errs, meta.EachListItem(workloads, func(o runtime.Object) error {
			found = append(found, unrecognizedPause(strings.TrimSuffix(of.resource, "s"), workloadOf(o)))
			return nil
		}))
	}
	return found, errors.Join(errs...)
}

func unrecognizedFreeze(b admissionv1.ValidatingAdmissionPolicyBinding) budget.Unrecognized {
	return budget.Unrecognized{
		Object: "validatingadmissionpolicybinding/" + b.Name, Label: LabelBudgetUID,
		Means:  "it can be a freeze of an older gpupool, which keeps new GPU pods out",
		Remedy: "Remove it: kubectl delete validatingadmissionpolicybinding " + b.Name,
	}
}

// UnrecognizedFreezeError says that a budget has a freeze that only a person can lift.
type UnrecognizedFreezeError struct{ Name string }

// Error says what to do.
func (e *UnrecognizedFreezeError) Error() string {
	return fmt.Sprintf("the freeze %s is of an older gpupool, and may still keep new GPU pods out: "+
		"kubectl delete validatingadmissionpolicybinding %[1]s", e.Name)
}

// unrecognizedPause is a workload that is marked as builds from before the first release
// marked what they paused. Whoever may write it may have written the marks.
func unrecognizedPause(kind string, o workload) budget.Unrecognized {
	name, in := kind+"/"+o.GetName(), " --namespace "+o.GetNamespace()
	u := budget.Unrecognized{
		Object: name + " in the namespace " + o.GetNamespace(), Label: formerLabelPausedBy, Means: "an older gpupool may have paused it",
		Remedy: "Remove it: kubectl label " + name + in + " " + formerLabelPausedBy + "-",
	}
	switch {
	case !o.stopped():
		u.Means = "an older gpupool may have paused it, and it was started since"
	case kind == "job":
		u.Remedy = "Resume it: kubectl patch " + name + in + ` --type merge --patch '{"spec":{"suspend":false}}'. ` + u.Remedy
	default:
		replicas, err := strconv.ParseInt(o.GetAnnotations()[formerAnnotationReplicas], 10, 32)
		if err != nil || replicas < 1 {
			replicas = 1
		}
		u.Remedy = fmt.Sprintf("Resume it: kubectl scale %s%s --replicas %d. %s", name, in, replicas, u.Remedy)
	}
	return u
}
