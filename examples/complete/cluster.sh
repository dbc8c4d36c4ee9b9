#!/bin/sh
# Prints manifests for kubectl apply: the store, a CronJob that runs gpupool reconcile, and
# an agent on each node of the pool that watches for interruption notices. It also prints
# the permissions and policies of all of them.
set -eu

exec gpupool manifests --stock-pools \
  --bootstrap-groups system:bootstrappers:kubeadm:default-node-token \
  --mark-nodes --cordon-nodes --delete-nodes \
  --notice-watch --notice-watch-on pool=train "$@"
