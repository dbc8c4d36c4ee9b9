#!/bin/sh
# Joins k3s as an agent by the token of this launch, with a provider id, by which the node
# is found. What stands between K10 and :: is the hash of the cluster's CA, which
# /var/lib/rancher/k3s/server/token has there, and no secret. The servers run with
# --disable-cloud-controller: else k3s gives nodes provider ids of its own.
set -eu

metadata=http://metadata.tencentyun.com/latest/meta-data
id=$(curl -sf "$metadata/instance-id")
zone=$(curl -sf "$metadata/placement/zone")

# The image has k3s, and an agent's service of this name that is not enabled.
mkdir -p /etc/rancher/k3s
umask 077
cat >/etc/rancher/k3s/config.yaml <<EOF
server: https://10.0.0.10:6443
token: K100123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef::{{GPUPOOL_BOOTSTRAP_TOKEN}}
node-label: ["pool=train"]
kubelet-arg: ["provider-id=qcloud:///$zone/$id"]
EOF
systemctl start k3s-agent
