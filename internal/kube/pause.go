package kube

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// Paused lists the workloads that are paused, by the budget that did it.
func (c *Cluster) Paused(ctx context.Context) ([]reconcile.PausedWorkload, error) {
	var out []reconcile.PausedWorkload
	for _, k := range c.kinds() {
		list, err := k.list(ctx, metav1.ListOptions{LabelSelector: LabelPausedBy, Limit: 500})
		if err != nil {
			return nil, Wrap("list", k.resource, err)
		}
		for _, w := range list {
			out = append(out, reconcile.PausedWorkload{BudgetUID: w.GetLabels()[LabelPausedBy], Workload: budget.Workload{
				Namespace: w.GetNamespace(), APIVersion: k.apiVersion, Kind: k.kind, Name: w.GetName(), UID: string(w.GetUID()),
			}, Labels: w.template()})
		}
	}
	return out, nil
}

// Pause suspends a Job, or scales a Deployment or StatefulSet to zero, and marks
// it with the budget and its previous size. A ReplicaSet stands for the
// Deployment that it is of. What is paused already stays so. The error is
// *reconcile.NotPausedError where it is none of these, or someone else drives it.
func (c *Cluster) Pause(ctx context.Context, w budget.Workload, budgetUID string) error {
	w, err := c.pausable(ctx, w)
	if err != nil {
		return err
	}
	k, known := c.kindOf(w)
	if !known {
		return &reconcile.NotPausedError{Workload: w, Reason: "a " + w.Kind + " can be neither suspended nor scaled to zero here: its operator has to"}
	}
	return c.change(ctx, k, w, func(o workload) (changed bool, err error) {
		switch by := o.GetLabels()[LabelPausedBy]; {
		case by != "" && by != budgetUID:
			return false, notPaused(w, "another budget paused it (uid "+by+")")
		case by != "" && o.paused():
			return false, nil
		case by != "":
			return false, notPaused(w, "it was paused, and someone started it again since; gpupool does not fight over it")
		case o.paused():
			return false, notPaused(w, "it is stopped already, by someone else")
		}
		if reason := driven(o, k.kind); reason != "" {
			return false, notPaused(w, reason)
		}
		scaled, err := c.autoscaled(ctx, w)
		if err != nil {
			return false, err
		}
		if scaled != "" {
			return false, notPaused(w, scaled)
		}
		o.SetLabels(merged(o.GetLabels(), map[string]string{LabelPausedBy: budgetUID}))
		o.pause()
		return true, nil
	})
}

// Resume undoes a pause of this budget. Where someone else changed the workload
// since, only the marks are taken off, and the error is
// *reconcile.NotPausedError. What is gone, or not paused by this budget, stays.
func (c *Cluster) Resume(ctx context.Context, w budget.Workload, budgetUID string) error {
	k, known := c.kindOf(w)
	if !known {
		return notPaused(w, "gpupool pauses no "+w.Kind)
	}
	var touched error
	err := c.change(ctx, k, w, func(o workload) (changed bool, err error) {
		touched = nil
		if o.GetLabels()[LabelPausedBy] != budgetUID {
			return false, nil
		}
		if !o.paused() {
			touched = notPaused(w, "someone started it again since it was paused; it is left as it is")
		} else if err := o.resume(); err != nil {
			touched = notPaused(w, err.Error())
		}
		labels, annotations := o.GetLabels(), o.GetAnnotations()
		delete(labels, LabelPausedBy)
		delete(annotations, AnnotationReplicas)
		o.SetLabels(labels)
		o.SetAnnotations(annotations)
		return true, nil
	})
	var gone *reconcile.NotPausedError
	if errors.As(err, &gone) && gone.Reason == reasonGone {
		return nil
	}
	if err != nil {
		return err
	}
	return touched
}

const reasonGone = "it is gone"

func notPaused(w budget.Workload, reason string) *reconcile.NotPausedError {
	return &reconcile.NotPausedError{Workload: w, Reason: reason}
}

// change reads a workload, has it changed, and writes it if nobody else wrote it
// meanwhile; else it begins again.
func (c *Cluster) change(ctx context.Context, k kind, w budget.Workload, edit func(workload) (bool, error)) error {
	object := fmt.Sprintf("%s %s/%s", k.resource, w.Namespace, w.Name)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		o, err := k.get(ctx, w.Namespace, w.Name)
		if apierrors.IsNotFound(err) || err == nil && w.UID != "" && string(o.GetUID()) != w.UID {
			return notPaused(w, reasonGone)
		}
		if err != nil {
			return Wrap("get", object, err)
		}
		changed, err := edit(o)
		if err != nil || !changed {
			return err
		}
		err = k.update(ctx, o)
		switch {
		case apierrors.IsNotFound(err):
			return notPaused(w, reasonGone)
		case refusedByAdmission(err):
			return notPaused(w, "the cluster refuses the change: "+err.Error())
		}
		return Wrap("update", object, err)
	})
}

// pausable is the workload that a pod's owner stands for.
func (c *Cluster) pausable(ctx context.Context, w budget.Workload) (budget.Workload, error) {
	if w.Kind != "ReplicaSet" || w.APIVersion != "apps/v1" {
		return w, nil
	}
	rs, err := c.kube.AppsV1().ReplicaSets(w.Namespace).Get(ctx, w.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && w.UID != "" && string(rs.UID) != w.UID {
		return w, notPaused(w, reasonGone)
	}
	if err != nil {
		return w, Wrap("get", "replicasets "+w.Namespace+"/"+w.Name, err)
	}
	owner := metav1.GetControllerOf(rs)
	if owner == nil || owner.Kind != "Deployment" {
		return w, notPaused(w, "it is not of a Deployment, and ReplicaSets alone are not scaled")
	}
	return budget.Workload{Namespace: w.Namespace, APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: string(owner.UID)}, nil
}
