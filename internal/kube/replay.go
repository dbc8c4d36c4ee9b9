package kube

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// patience are how long the watches of one replay last, in seconds. A server
// closes a watch with a bookmark, its word that everything before was told, two
// seconds before the watch's timeout (k8s.io/apiserver/pkg/storage/cacher,
// cache_watcher.go): so three seconds is the shortest that gets one, and it comes
// after about one. The longer ones are for servers that learn of their position
// from etcd every five seconds alone.
var patience = []int64{3, 4, 8, 12}

// watcher begins a watch.
type watcher func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)

// replay watches a collection from a resource version until a position that is
// known to have been reached, and hands each event over. An empty reason says
// that nothing is missing.
func replay(ctx context.Context, resource string, begin watcher, from, until string, each func(watch.EventType, runtime.Object)) (reason string, err error) {
	at, err := strconv.ParseUint(from, 10, 64)
	if err != nil {
		return fmt.Sprintf("the stored resource version %q is no number", clip(from, 40)), nil
	}
	target, err := strconv.ParseUint(until, 10, 64)
	if err != nil {
		return fmt.Sprintf("the server's resource version %q is no number", clip(until, 40)), nil
	}
	if at > target {
		return fmt.Sprintf("the stored resource version %d is ahead of the server's own, %d: the cluster was restored from a backup", at, target), nil
	}
	for _, seconds := range patience {
		if at >= target {
			return "", nil
		}
		reached, err := watchOnce(ctx, begin, at, target, seconds, each)
		at = max(at, reached)
		switch {
		case ctx.Err() != nil:
			return "", failed("watch", resource, ctx.Err())
		case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
			return fmt.Sprintf("the server no longer has the history since resource version %d", at), nil
		case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
			return "", failed("watch", resource, err)
		}
		// Anything else, such as a connection that was cut, is what the next
		// watch goes on after, from where this one came to.
	}
	if at >= target {
		return "", nil
	}
	return fmt.Sprintf("the server told of changes up to resource version %d alone, and it is at %d", at, target), nil
}

// watchOnce watches until the target or the timeout, and returns how far it came.
func watchOnce(ctx context.Context, begin watcher, from, target uint64, seconds int64, each func(watch.EventType, runtime.Object)) (uint64, error) {
	ctx, stop := context.WithTimeout(ctx, time.Duration(seconds+10)*time.Second)
	defer stop()
	w, err := begin(ctx, metav1.ListOptions{
		ResourceVersion: strconv.FormatUint(from, 10), AllowWatchBookmarks: true, TimeoutSeconds: &seconds,
	})
	if err != nil {
		return from, err
	}
	defer w.Stop()
	at := from
	for event := range w.ResultChan() {
		if event.Type == watch.Error {
			return at, apierrors.FromObject(event.Object)
		}
		object, err := meta.Accessor(event.Object)
		if err != nil {
			return at, err
		}
		version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
		if err != nil {
			return at, errors.New("an event has no resource version")
		}
		if event.Type != watch.Bookmark {
			each(event.Type, event.Object)
		}
		// Several objects never change at one resource version, so what has the
		// target's or a later one has everything before it.
		if at = max(at, version); at >= target {
			return at, nil
		}
	}
	return at, nil
}
