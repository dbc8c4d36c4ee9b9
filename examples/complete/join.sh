#!/bin/sh
# Joins a kubeadm cluster with the token of this launch. gpupool finds the node by its
# provider ID. The hash of the cluster's CA is not a secret:
#   openssl x509 -pubkey -in /etc/kubernetes/pki/ca.crt | openssl rsa -pubin -outform der 2>/dev/null | sha256sum
set -eu

metadata=http://metadata.tencentyun.com/latest/meta-data
id=$(curl -sf "$metadata/instance-id")
zone=$(curl -sf "$metadata/placement/zone")
echo "KUBELET_EXTRA_ARGS=--provider-id=qcloud:///$zone/$id --node-labels=pool=train" >/etc/default/kubelet

kubeadm join 10.0.0.10:6443 --token '{{GPUPOOL_BOOTSTRAP_TOKEN}}' \
  --discovery-token-ca-cert-hash sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
