#!/bin/sh
# Joins k3s as an agent with the token of this launch. The provider ID lets gpupool find
# the node. The part between K10 and :: is the hash of the CA of the cluster, and
# not a secret: copy it from /var/lib/rancher/k3s/server/token. Run the servers with
# --disable-cloud-controller, or k3s replaces the provider ID.
set -eu

metadata=http://metadata.tencentyun.com/latest/meta-data
id=$(curl -sf "$metadata/instance-id")
zone=$(curl -sf "$metadata/placement/zone")

# The image has k3s, and a k3s-agent service that is not enabled.
mkdir -p /etc/rancher/k3s
umask 077
cat >/etc/rancher/k3s/config.yaml <<EOF
server: https://10.0.0.10:6443
token: K100123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef::{{GPUPOOL_BOOTSTRAP_TOKEN}}
node-label: ["pool=batch"]
kubelet-arg: ["provider-id=qcloud:///$zone/$id"]
EOF
systemctl start k3s-agent
