package cluster

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// The marks on a node whose instance Tencent Cloud reclaims: a condition, which runs read, and a taint, which
// keeps new pods off it. Both contain the time; a taint's value cannot contain a colon.
const (
	NoticeCondition = "GpupoolReclaim"
	NoticeTaint     = "gpupool/reclaim"
	NoticeReason    = "SpotReclaim"
	noticeTaintTime = "20060102T150405Z"
)

// Notice returns whether a node has a notice, or a part of one, and its time; zero if it cannot be read.
func (c *noticeClient) Notice(ctx context.Context, name string) (at time.Time, marked bool, err error) {
	live, err := c.getNode(ctx, name)
	if err != nil {
		return time.Time{}, false, err
	}
	tainted := slices.ContainsFunc(live.Spec.Taints, isNoticeTaint)
	return noticeOf(live).At, tainted || noticeCondition(live) != nil, nil
}

// SetNotice marks a node with a notice. A node that has it is left as it is.
func (c *noticeClient) SetNotice(ctx context.Context, name string, notice node.Notice, now time.Time) error {
	written := metav1.NewTime(now)
	return c.changeNotice(ctx, name, &corev1.NodeCondition{
		Type: NoticeCondition, Status: corev1.ConditionTrue, Reason: NoticeReason, Message: notice.String(),
		LastHeartbeatTime: written, LastTransitionTime: written,
	}, &corev1.Taint{Key: NoticeTaint, Value: notice.At.UTC().Format(noticeTaintTime), Effect: corev1.TaintEffectNoSchedule})
}

// ClearNotice takes from a node what SetNotice gave it, and nothing else.
func (c *noticeClient) ClearNotice(ctx context.Context, name string) error {
	return c.changeNotice(ctx, name, nil, nil)
}

// noticeOf returns the notice of a node; zero if the node has no readable one.
func noticeOf(n *corev1.Node) node.Notice {
	condition := noticeCondition(n)
	if condition == nil || condition.Status != corev1.ConditionTrue {
		return node.Notice{}
	}
	notice, _ := node.NoticeIn(condition.Message, condition.LastHeartbeatTime.Time)
	return notice
}

func noticeCondition(n *corev1.Node) *corev1.NodeCondition {
	at := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == NoticeCondition })
	if at < 0 {
		return nil
	}
	return &n.Status.Conditions[at]
}

func isNoticeTaint(t corev1.Taint) bool { return t.Key == NoticeTaint }

// changeNotice gives a node exactly this condition and this taint of ours, or none. The
// condition is first: runs read it.
func (c *noticeClient) changeNotice(ctx context.Context, name string, condition *corev1.NodeCondition, taint *corev1.Taint) error {
	return retry.RetryOnConflict(writeTries, func() error {
		live, err := c.getNode(ctx, name)
		if err == nil {
			live, err = c.changeNoticeCondition(ctx, live, condition)
		}
		if err == nil {
			err = c.changeNoticeTaint(ctx, live, taint)
		}
		return err
	})
}

// changeNoticeCondition patches by the condition's type, so that what a kubelet writes
// meanwhile is no conflict.
func (c *noticeClient) changeNoticeCondition(ctx context.Context, live *corev1.Node, want *corev1.NodeCondition) (*corev1.Node, error) {
	is := noticeCondition(live)
	var change any = want
	switch {
	case is == nil && want == nil, is != nil && want != nil && is.Status == want.Status && is.Message == want.Message:
		return live, nil
	case want == nil:
		change = map[string]any{"type": NoticeCondition, "$patch": "delete"}
	}
	return c.patchNode(ctx, live, types.StrategicMergePatchType, map[string]any{
		"metadata": map[string]any{"uid": live.UID}, "status": map[string]any{"conditions": []any{change}},
	}, "status")
}

// changeNoticeTaint writes all taints, as the API offers no other way. It fails if another process changed
// the node meanwhile.
func (c *noticeClient) changeNoticeTaint(ctx context.Context, live *corev1.Node, want *corev1.Taint) error {
	is := slices.IndexFunc(live.Spec.Taints, isNoticeTaint)
	if is < 0 && want == nil || is >= 0 && want != nil && live.Spec.Taints[is] == *want {
		return nil
	}
	taints := slices.DeleteFunc(slices.Clone(live.Spec.Taints), isNoticeTaint)
	if want != nil {
		taints = append(taints, *want)
	}
	_, err := c.patchNode(ctx, live, types.MergePatchType, map[string]any{
		"metadata": map[string]any{"uid": live.UID, "resourceVersion": live.ResourceVersion}, "spec": map[string]any{"taints": taints},
	})
	return err
}

// ProviderID returns the provider ID of a node.
func (c *noticeClient) ProviderID(ctx context.Context, name string) (node.ProviderID, error) {
	live, err := c.getNode(ctx, name)
	if err != nil {
		return node.ProviderID{}, err
	}
	return node.ParseProviderID(live.Spec.ProviderID), nil
}

// PodsOn lists all pods on a node, without a cache. It does not know which of them their namespace protects.
func (c *noticeClient) PodsOn(ctx context.Context, name string) ([]node.Pod, error) {
	return c.podsOn(ctx, name, nil)
}

// DeletePod deletes exactly this pod, and no later one of its name. It is no error if that is gone.
func (c *noticeClient) DeletePod(ctx context.Context, d node.Deletion) error {
	err := c.kube.CoreV1().Pods(d.Pod.Namespace).Delete(ctx, d.Pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &d.Grace, Preconditions: &metav1.Preconditions{UID: new(types.UID(d.Pod.UID))},
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return kubeclient.Wrap("delete", "pods "+d.Pod.String(), err)
}
