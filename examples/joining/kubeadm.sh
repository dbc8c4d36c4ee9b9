#!/bin/sh
# Joins a cluster of kubeadm by the token of this launch, with a provider id, by which
# the node is found. The hash is that of the cluster's CA, and no secret:
#   openssl x509 -pubkey -in /etc/kubernetes/pki/ca.crt | openssl rsa -pubin -outform der 2>/dev/null | sha256sum
set -eu

metadata=http://metadata.tencentyun.com/latest/meta-data
id=$(curl -sf "$metadata/instance-id")
zone=$(curl -sf "$metadata/placement/zone")
echo "KUBELET_EXTRA_ARGS=--provider-id=qcloud:///$zone/$id --node-labels=pool=train" >/etc/default/kubelet

kubeadm join 10.0.0.10:6443 --token '{{GPUPOOL_BOOTSTRAP_TOKEN}}' \
  --discovery-token-ca-cert-hash sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
