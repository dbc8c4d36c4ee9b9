package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	controlleroptions "k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
)

// usualControllers are those without which a workload would not behave as in a
// real cluster, and those by which kubelets get their certificates. Those for
// volumes and networks have nothing to do here. The node lifecycle
// controller is left out too: nodes that a test makes up would be declared dead.
var usualControllers = []string{
	names.DeploymentController,
	names.ReplicaSetController,
	names.StatefulSetController,
	names.DaemonSetController,
	names.JobController,
	names.CronJobController,
	names.DisruptionController,
	names.HorizontalPodAutoscalerController,
	names.ResourceQuotaController,
	names.PodGarbageCollectorController,
	names.GarbageCollectorController,
	names.NamespaceController,
	names.ServiceAccountController,
	names.ServiceAccountTokenController,
	names.RootCACertificatePublisherController,
	names.ResourceClaimController,
	names.TTLAfterFinishedController,
	names.ClusterRoleAggregationController,
	names.ValidatingAdmissionPolicyStatusController,
	names.CertificateSigningRequestSigningController,
	names.CertificateSigningRequestApprovingController,
}

// none stands for no controller at all.
const none = "none"

// checkControllers tells whether the controller manager has all of these.
func checkControllers(asked []string) error {
	known := app.KnownControllers()
	for _, name := range asked {
		if name == none && len(asked) == 1 {
			return nil
		}
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no controller %q: choose among %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// runControllers runs kube-controller-manager with these controllers until ctx is done.
func runControllers(ctx context.Context, dir *directory, options options, controllers []string) error {
	known, disabled, aliases := app.KnownControllers(), app.ControllersDisabledByDefault(), app.ControllerAliases()
	manager, err := controlleroptions.NewKubeControllerManagerOptions()
	if err != nil {
		return err
	}
	sets := manager.Flags(known, disabled, aliases)
	manager.ParsedFlags = &sets
	if err := parse(sets, []string{
		"--kubeconfig=" + dir.path("kubeconfig"),
		"--controllers=" + strings.Join(controllers, ","),
		"--leader-elect=false",
		"--secure-port=0",
		"--service-account-private-key-file=" + dir.path(accountsKey),
		"--root-ca-file=" + dir.path(caCertificate),
		"--cluster-signing-cert-file=" + dir.path(caCertificate),
		"--cluster-signing-key-file=" + dir.path(caKey),
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
		"--horizontal-pod-autoscaler-sync-period=1s",
		"--terminated-pod-gc-threshold=" + strconv.Itoa(options.terminatedPodThreshold),
	}); err != nil {
		return err
	}
	config, err := manager.Config(ctx, known, disabled, aliases)
	if err != nil {
		return err
	}
	return app.Run(ctx, config.Complete())
}
