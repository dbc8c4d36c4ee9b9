package main

import (
	"context"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/controller/podgc"
)

// podGC is the pace of the pod garbage collector, which kube-controller-manager
// has no flags for.
type podGC struct {
	every      time.Duration
	quarantine time.Duration
}

// usualPodGC is the pace in kube-controller-manager.
var usualPodGC = podGC{every: 20 * time.Second, quarantine: 40 * time.Second}

// runPodGC runs only that controller, at another pace, until ctx is done.
func runPodGC(ctx context.Context, config *rest.Config, options options) error {
	client, err := kubernetes.NewForConfig(rest.AddUserAgent(config, "pod-garbage-collector"))
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	collector := podgc.NewPodGCInternal(ctx, client, factory.Core().V1().Pods(), factory.Core().V1().Nodes(),
		options.terminatedPodThreshold, options.podGC.every, options.podGC.quarantine)
	factory.Start(ctx.Done())
	collector.Run(ctx)
	return ctx.Err()
}
