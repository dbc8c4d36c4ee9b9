package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

const nodeName = "gpu-1"

// kubeletConfig works on any machine, also in a container. The kubelet creates no cgroups for classes
// of pods, watches no disks, and does not change the packet filter.
func (m *machine) kubeletConfig() map[string]any {
	return map[string]any{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"containerRuntimeEndpoint": "unix://" + m.path("containerd.sock"),
		"providerID":               "qcloud:///900002/ins-kubelet01",
		"address":                  "127.0.0.1", "readOnlyPort": 0, "healthzPort": 0,
		"authentication": map[string]any{"anonymous": map[string]any{"enabled": true}, "webhook": map[string]any{"enabled": false}},
		"authorization":  map[string]any{"mode": "AlwaysAllow"},
		"failCgroupV1":   false, "cgroupDriver": "cgroupfs", "cgroupsPerQOS": false, "enforceNodeAllocatable": []string{},
		"failSwapOn": false, "localStorageCapacityIsolation": false, "makeIPTablesUtilChains": false,
		"evictionHard": map[string]string{"memory.available": "50Mi"}, "imageGCHighThresholdPercent": 100,
		"podLogsDir": m.path("logs"), "volumePluginDir": m.path("volume-plugins"),
	}
}

func (m *machine) startKubelet(kubeconfig string) error {
	text, err := yaml.Marshal(m.kubeletConfig())
	if err != nil {
		return err
	}
	config, err := m.write("kubelet.yaml", string(text))
	if err != nil {
		return err
	}
	return m.start(0, "kubelet", "--config", config, "--kubeconfig", kubeconfig, "--hostname-override", nodeName,
		"--root-dir", m.path("kubelet"), "--cert-dir", m.path("kubelet", "pki"),
		"--node-labels", corev1.LabelInstanceTypeStable+"=GN10Xp.20XLARGE320,nvidia.com/gpu.product=Tesla-V100-SXM2-32GB")
}

// waitForNode waits until the node is Ready and offers the GPUs.
func (m *machine) waitForNode(ctx context.Context, client kubernetes.Interface) error {
	err := until(ctx, "the node", func(ctx context.Context) error {
		node, err := client.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		quantity, ready := node.Status.Allocatable[gpuResource], false
		for _, c := range node.Status.Conditions {
			ready = ready || c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}
		if !ready || quantity.Value() != gpus {
			return fmt.Errorf("it is Ready: %t, and has %s of %d GPUs", ready, quantity.String(), gpus)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, tail(m.path("kubelet.log")))
	}
	return nil
}
