package kubernetes

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

const (
	tries = 4
	// firstPause is the first pause between two tries. It doubles with each try.
	firstPause = 100 * time.Millisecond
	// callTimeout bounds one call, which may carry a document of a mebibyte. The API
	// server itself gives up after a minute.
	callTimeout = 30 * time.Second
	// patience is the time after which no other try begins.
	patience = 10 * time.Second
)

// retry repeats a call while its failure may be temporary. Repeating a call must be safe. All calls
// of the store are, since each names the revision that it changes.
func retry(ctx context.Context, call func(ctx context.Context) error) error {
	began := time.Now()
	for n, pause := 1, firstPause; ; n, pause = n+1, 2*pause {
		err := once(ctx, call)
		if !uncertain(err) || n == tries || time.Since(began) > patience || ctx.Err() != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

func once(ctx context.Context, call func(ctx context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := call(limited)
	if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return errors.Join(ctx.Err(), err)
	}
	return err
}

// uncertain reports whether a failed call may have had an effect, or may succeed when it is
// repeated.
func uncertain(err error) bool {
	if err == nil {
		return false
	}
	class := kubeclient.ClassOf(err)
	return class == kubeclient.ClassTransient || class == kubeclient.ClassUnreachable
}

// lostRace reports whether another process changed what a call was to change.
func lostRace(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) && !noNamespace(err)
}

// noNamespace reports whether the namespace does not exist or is being deleted.
func noNamespace(err error) bool {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return true
	}
	var status apierrors.APIStatus
	return apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Kind == "namespaces"
}
