#!/bin/sh
# Joins a kubeadm cluster, with the provider ID by which gpupool finds the node.
set -eu

metadata=http://metadata.tencentyun.com/latest/meta-data
id=$(curl -sf "$metadata/instance-id")
zone=$(curl -sf "$metadata/placement/zone")
echo "KUBELET_EXTRA_ARGS=--provider-id=qcloud:///$zone/$id --node-labels=pool=train" >/etc/default/kubelet

kubeadm join 10.0.0.10:6443 --discovery-file /etc/kubernetes/discovery.yaml
