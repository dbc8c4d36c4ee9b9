package main

import (
	"context"
	"os"

	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	scheduleroptions "k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"sigs.k8s.io/yaml"
)

// runScheduler runs kube-scheduler until ctx is done.
func runScheduler(ctx context.Context, dir *directory) error {
	configuration, err := yaml.Marshal(map[string]any{
		"apiVersion":       "kubescheduler.config.k8s.io/v1",
		"kind":             "KubeSchedulerConfiguration",
		"clientConnection": map[string]any{"kubeconfig": dir.path("kubeconfig"), "qps": 1000, "burst": 2000},
		"leaderElection":   map[string]any{"leaderElect": false},
		// A pod that found no room is looked at again within a second or two,
		// not ten.
		"podInitialBackoffSeconds": 1,
		"podMaxBackoffSeconds":     2,
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(dir.path("scheduler.yaml"), configuration, 0o600); err != nil {
		return err
	}
	scheduler := scheduleroptions.NewOptions()
	if err := parse(*scheduler.Flags, []string{
		"--config=" + dir.path("scheduler.yaml"),
		"--secure-port=0",
	}); err != nil {
		return err
	}
	completed, instance, err := app.Setup(ctx, scheduler)
	if err != nil {
		return err
	}
	return app.Run(ctx, completed, instance)
}
