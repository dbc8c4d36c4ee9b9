package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	for _, list := range []func(context.Context, metav1.ListOptions) ([]budget.Unrecognized, error){
		c.unrecognizedDeployments, c.unrecognizedStatefulSets, c.unrecognizedJobs,
	} {
		workloads, err := list(ctx, options)
		found, errs = append(found, workloads...), append(errs, err)
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

func (c *enforcer) unrecognizedDeployments(ctx context.Context, o metav1.ListOptions) (found []budget.Unrecognized, err error) {
	list, err := c.kube.AppsV1().Deployments("").List(ctx, o)
	if err != nil {
		return nil, kubeclient.Wrap("list", "deployments", err)
	}
	for n := range list.Items {
		found = append(found, unrecognizedPause("deployment", deployment{&list.Items[n]}))
	}
	return found, nil
}

func (c *enforcer) unrecognizedStatefulSets(ctx context.Context, o metav1.ListOptions) (found []budget.Unrecognized, err error) {
	list, err := c.kube.AppsV1().StatefulSets("").List(ctx, o)
	if err != nil {
		return nil, kubeclient.Wrap("list", "statefulsets", err)
	}
	for n := range list.Items {
		found = append(found, unrecognizedPause("statefulset", statefulSet{&list.Items[n]}))
	}
	return found, nil
}

func (c *enforcer) unrecognizedJobs(ctx context.Context, o metav1.ListOptions) (found []budget.Unrecognized, err error) {
	list, err := c.kube.BatchV1().Jobs("").List(ctx, o)
	if err != nil {
		return nil, kubeclient.Wrap("list", "jobs", err)
	}
	for n := range list.Items {
		found = append(found, unrecognizedPause("job", job{&list.Items[n]}))
	}
	return found, nil
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
