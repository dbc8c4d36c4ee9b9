package cluster

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// watchSeconds is how long the watches of one replay last, one after the other. A server sends a bookmark,
// which says that all earlier events were sent, two seconds before a watch times out. See
// k8s.io/apiserver/pkg/storage/cacher/cache_watcher.go. So three seconds is the shortest watch that gets one,
// after about a second. The longer ones are for servers that learn their position from etcd only every five
// seconds.
var watchSeconds = []int64{3, 4, 8, 12}

// answerTimeout is how long a server may take longer than the watch.
const answerTimeout = 10 * time.Second

// replay watches a collection from a resource version until a position that is
// known to have been reached, and hands each event over. An empty reason says
// that nothing is missing.
func replay(ctx context.Context, of kubeclient.Collection, from, until string, each func(kubeclient.Change) error) (reason string, err error) {
	at, numeric := number(from)
	if !numeric {
		return fmt.Sprintf("the stored resource version %q is not a number", clip(from, 40)), nil
	}
	target, numeric := number(until)
	if !numeric {
		return fmt.Sprintf("the server's resource version %q is not a number", clip(until, 40)), nil
	}
	if at > target {
		return fmt.Sprintf("the stored resource version %d is ahead of the server's own, %d: the cluster was restored from a backup", at, target), nil
	}
	gap := ""
	for n := 0; n < len(watchSeconds) && at < target; n++ {
		reached, err := watchOnce(ctx, of, at, target, watchSeconds[n], each)
		at = max(at, reached)
		switch {
		case ctx.Err() != nil:
			return "", kubeclient.Wrap("watch", of.String(), ctx.Err())
		case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
			since := oldest(err)
			if gap != "" || since <= at || since > target {
				return historyLost(at), nil
			}
			// The rest of the history is useful: it has the exact ends of pods that a list would only show to
			// be gone.
			gap, at, n = historyLost(at), since, -1
		case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
			return "", kubeclient.Wrap("watch", of.String(), err)
		}
		// After anything else, such as a connection that was cut, the next watch goes
		// on from where this one came to.
	}
	if at < target && gap == "" {
		gap = fmt.Sprintf("the server sent changes only up to resource version %d, and it is at %d", at, target)
	}
	return gap, nil
}

func historyLost(since uint64) string {
	return fmt.Sprintf("the server no longer has the history since resource version %d", since)
}

// oldest is how far back the history goes, or zero if the server does not say. An example is "too old
// resource version: 7 (52)", from k8s.io/apiserver/pkg/storage/cacher/watch_cache.go.
func oldest(err error) uint64 {
	_, rest, _ := strings.Cut(err.Error(), "too old resource version: ")
	_, rest, _ = strings.Cut(rest, "(")
	digits, _, _ := strings.Cut(rest, ")")
	since, _ := number(digits)
	return since
}

// watchOnce watches until the target or the timeout, and returns how far it came.
func watchOnce(ctx context.Context, of kubeclient.Collection, from, target uint64, seconds int64, each func(kubeclient.Change) error) (at uint64, err error) {
	ctx, stop := context.WithTimeout(ctx, time.Duration(seconds)*time.Second+answerTimeout)
	defer stop()
	at = from
	err = kubeclient.Watch(ctx, of, from, seconds, func(c kubeclient.Change) (bool, error) {
		version, numeric := number(c.ResourceVersion)
		if !numeric {
			return false, fmt.Errorf("an event has the resource version %q, which is not a number", clip(c.ResourceVersion, 40))
		}
		if c.Kind != watch.Bookmark {
			if err := each(c); err != nil {
				return false, err
			}
		}
		// No two objects change at one resource version: a watch at the target or later has sent all earlier
		// events.
		at = max(at, version)
		return at >= target, nil
	})
	return at, err
}

// number reads a resource version: the API server takes etcd's revisions for
// them, and compares them itself (k8s.io/apiserver, pkg/storage/api_object_versioner.go).
// None is zero, by which a watch would be asked to begin anywhere.
func number(resourceVersion string) (uint64, bool) {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	return n, err == nil && n > 0
}
