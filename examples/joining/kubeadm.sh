#!/bin/sh
# Joins a kubeadm cluster with the token of this launch. The provider ID lets gpupool find
# the node. The hash is that of the cluster's CA, and not a secret:
#   openssl x509 -pubkey -in /etc/kubernetes/pki/ca.crt | openssl rsa -pubin -outform der 2>/dev/null | sha256sum
set -eu

metadata=http://metadata.tencentyun.com/latest/meta-data
id=$(curl -sf "$metadata/instance-id")
zone=$(curl -sf "$metadata/placement/zone")
echo "KUBELET_EXTRA_ARGS=--provider-id=qcloud:///$zone/$id --node-labels=pool=batch" >/etc/default/kubelet

kubeadm join 10.0.0.10:6443 --token '{{GPUPOOL_BOOTSTRAP_TOKEN}}' \
  --discovery-token-ca-cert-hash sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
