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
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// The marks of workloads that builds from before the first release paused.
const (
	formerLabelPausedBy      = "gpupool/paused-by"
	formerAnnotationReplicas = "gpupool/replicas"
)

// Unrecognized lists the bindings and workloads with a gpupool label that this version does not use.
// If it returns an error, the list is incomplete.
func (c *enforcer) Unrecognized(ctx context.Context) ([]budget.Unrecognized, error) {
	_, freezes, err := c.freezeSlots(ctx, LabelBudgetUID)
	var found []budget.Unrecognized
	for _, b := range freezes {
		found = append(found, unrecognizedFreeze(b))
	}
	errs := []error{err}
	// From the API server's cache: the objects stay until an operator removes them.
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
		Means:    reason.LeftFreeze(),
		Commands: []string{"kubectl delete validatingadmissionpolicybinding " + b.Name},
	}
}

// UnrecognizedFreezeError says that a budget has a freeze that only an operator can lift.
type UnrecognizedFreezeError struct{ Name string }

// Error names the binding and the command that deletes it.
func (e *UnrecognizedFreezeError) Error() string {
	return fmt.Sprintf("the freeze %s is of an older gpupool, and may still block new GPU pods: "+
		"kubectl delete validatingadmissionpolicybinding %[1]s", e.Name)
}

// unrecognizedPause describes a workload with the labels of a pause by a build from before the first
// release. Everyone who may write the workload can have written them.
func unrecognizedPause(kind string, o workload) budget.Unrecognized {
	name := kind + "/" + o.GetName()
	u := budget.Unrecognized{
		Object: name + " in the namespace " + o.GetNamespace(), Label: formerLabelPausedBy,
		Commands: []string{"kubectl label " + name + " --namespace " + o.GetNamespace() + " " + formerLabelPausedBy + "-"},
	}
	if !o.stopped() {
		u.Means = reason.LeftResumed()
		return u
	}
	replicas, err := strconv.ParseInt(o.GetAnnotations()[formerAnnotationReplicas], 10, 32)
	if err != nil {
		replicas = 0
	}
	p := budget.PausedWorkload{
		Workload: budget.Workload{Namespace: o.GetNamespace(), Owner: ledger.Owner{Kind: kind, Name: o.GetName()}}, Replicas: int32(replicas),
	}
	u.Means, u.Commands = reason.LeftPause(), append([]string{p.ResumeCommand()}, u.Commands...)
	return u
}
