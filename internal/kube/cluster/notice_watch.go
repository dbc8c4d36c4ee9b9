package cluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// Noticed is a node of a pool whose instance Tencent Cloud reclaims.
type Noticed struct {
	Node    string
	PoolUID string
	TakenAt time.Time
}

const (
	// noticeWatchSeconds is how long one watch lasts. The next one continues at its end.
	noticeWatchSeconds = 300
	// A broken watch begins again soon, as a notice comes only two minutes ahead. A refused one is retried as
	// often as an administrator may grant the permission.
	watchAgainAfter        = 5 * time.Second
	refusedWatchAgainAfter = time.Minute
)

// NoticeHandlers are called by a watch for notices.
type NoticeHandlers struct {
	// Notice is called for each node with a pool's mark and a notice, including existing ones. It is called again
	// if the notice changes: its time, or how many pods are deleted before that.
	Notice func(Noticed)
	// Trouble is called once with the error of a failed watch, and with nil when the watch works again.
	Trouble func(error)
}

// WatchNotices watches the nodes for notices until the context ends.
func (c *noticeClient) WatchNotices(ctx context.Context, handlers NoticeHandlers) {
	w := noticeWatch{cluster: c, handlers: handlers, told: map[string]node.Notice{}}
	for ctx.Err() == nil {
		after := w.once(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(after):
		}
	}
}

// noticeWatch is a series of watches, each of which resumes the previous one.
type noticeWatch struct {
	cluster  *noticeClient
	handlers NoticeHandlers
	from     uint64                 // zero: from all nodes that there are
	told     map[string]node.Notice // by a node's uid
	broken   bool                   // the last watch, or its beginning
	troubled bool                   // the failure was reported
}

// once watches until the watch ends, and returns when the next may begin.
func (w *noticeWatch) once(ctx context.Context) (after time.Duration) {
	of := kubeclient.Collection{Client: w.cluster.kube.CoreV1().RESTClient(), Resource: "nodes"}
	limited, stop := context.WithTimeout(ctx, noticeWatchSeconds*time.Second+answerTimeout)
	defer stop()
	err := kubeclient.Watch(limited, of, w.from, noticeWatchSeconds, w.take)
	switch {
	case ctx.Err() != nil:
		return 0
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
		w.from = 0
		return 0
	case err == nil && !w.broken:
		return 0
	case err == nil: // a watch that began and told nothing
		w.well()
		return 0
	}
	refused := apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
	if (w.broken || refused) && !w.troubled {
		w.troubled = true
		w.handlers.Trouble(kubeclient.Wrap("watch", of.String(), err))
	}
	first := !w.broken
	w.broken = true
	switch {
	case refused:
		return refusedWatchAgainAfter
	case first: // as when an API server goes away in good order
		return time.Second
	}
	return watchAgainAfter
}

// well reports that the watch works again.
func (w *noticeWatch) well() {
	w.broken = false
	if w.troubled {
		w.troubled = false
		w.handlers.Trouble(nil)
	}
}

// take takes an event.
func (w *noticeWatch) take(c kubeclient.Change) (enough bool, err error) {
	w.well()
	if version, numeric := number(c.ResourceVersion); numeric {
		w.from = version
	}
	if c.Kind == watch.Bookmark {
		return false, nil
	}
	var n corev1.Node
	if err := n.Unmarshal(c.Object); err != nil {
		return false, err
	}
	seen := poolNode(&n)
	if c.Kind == watch.Deleted || seen.TakenAt.IsZero() {
		delete(w.told, seen.UID)
		return false, nil
	}
	over, notice := seen.ReclaimAt(w.cluster.Now()).IsZero(), noticeOf(&n)
	if seen.Pool == "" || over || w.told[seen.UID] == notice {
		return false, nil
	}
	w.told[seen.UID] = notice
	w.handlers.Notice(Noticed{Node: seen.Name, PoolUID: seen.Pool, TakenAt: seen.TakenAt})
	return false, nil
}
