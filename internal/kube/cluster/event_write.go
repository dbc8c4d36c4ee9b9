package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// EventSource is the component that gpupool's Events name as their source.
const EventSource = fieldManager

// Alert records an Event in a namespace, because of a budget. The same alert again increments the count of
// the existing Event, so that a run each minute does not flood the namespace. A deleted namespace gets none.
func (c *enforcer) Alert(ctx context.Context, a budget.Event) error {
	kind := corev1.EventTypeNormal
	if a.Warning {
		kind = corev1.EventTypeWarning
	}
	now := metav1.NewTime(c.Now().Truncate(time.Second))
	if now.IsZero() {
		now = metav1.NewTime(time.Now().Truncate(time.Second))
	}
	name := alertName(a)
	client, object := c.kube.CoreV1().Events(a.Namespace), "events "+a.Namespace+"/"+name
	about := corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: a.Namespace, Namespace: a.Namespace}
	if of := a.About; of != nil {
		about = corev1.ObjectReference{APIVersion: of.APIVersion, Kind: of.Kind, Name: of.Name, Namespace: a.Namespace, UID: types.UID(of.UID)}
	}
	_, err := client.Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: name, Namespace: a.Namespace, Labels: map[string]string{LabelBudgetUID: a.BudgetUID}},
		InvolvedObject: about, Reason: a.Reason, Message: clip(a.Message, 1024), Type: kind, Count: 1,
		FirstTimestamp: now, LastTimestamp: now,
		Source: corev1.EventSource{Component: EventSource},
	}, metav1.CreateOptions{FieldManager: fieldManager})
	switch {
	case apierrors.IsNotFound(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil // the namespace is deleted
	case !apierrors.IsAlreadyExists(err):
		return kubeclient.Wrap("create", object, err)
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		event, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return kubeclient.Wrap("get", object, err)
		}
		event.Count++
		event.LastTimestamp, event.Message, event.Type = now, clip(a.Message, 1024), kind
		_, err = client.Update(ctx, event, metav1.UpdateOptions{FieldManager: fieldManager})
		return kubeclient.Wrap("update", object, err)
	})
}

// alertName is the same for what is the same alert.
func alertName(a budget.Event) string {
	of := fmt.Appendf(nil, "%s\x00%s\x00%d", a.BudgetUID, a.Reason, a.Threshold)
	if a.About != nil {
		of = fmt.Appendf(of, "\x00%s\x00%s\x00%s", a.About.Kind, a.About.Name, a.About.UID)
	}
	sum := sha256.Sum256(of)
	return "gpupool-" + a.Budget + "." + hex.EncodeToString(sum[:8])
}

// clip keeps a text within what the API lets a message be.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit-3], "") + "..."
}
