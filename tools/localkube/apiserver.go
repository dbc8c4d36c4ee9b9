package main

import (
	"context"
	"net"
	"strings"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	apiserveroptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
)

// runAPIServer serves on the listener until ctx is done.
func runAPIServer(ctx context.Context, dir *directory, options options, listener net.Listener) error {
	server := apiserveroptions.NewServerRunOptions()
	server.SecureServing.Listener = listener
	if err := parse(server.Flags(), apiServerFlags(dir, options, listener)); err != nil {
		return err
	}
	if err := server.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return err
	}
	completed, err := server.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return utilerrors.NewAggregate(errs)
	}
	return app.Run(ctx, completed)
}

func apiServerFlags(dir *directory, options options, listener net.Listener) []string {
	// This plugin taints new nodes until the node lifecycle controller clears
	// them, which usually does not run.
	var disabled []string
	if !options.has(names.NodeLifecycleController) {
		disabled = append(disabled, "TaintNodesByCondition")
	}
	// This one refuses pods until their namespace has a service account.
	if !options.has(names.ServiceAccountController) {
		disabled = append(disabled, "ServiceAccount")
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return []string{
		"--bind-address=127.0.0.1",
		"--secure-port=" + port,
		// Published for pods, of which none runs; without it the machine would
		// need a network. (RFC 5737: for documentation)
		"--advertise-address=192.0.2.1",
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--etcd-servers=" + etcdSocket(dir),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--enable-bootstrap-token-auth=true",
		"--client-ca-file=" + dir.path(caCertificate),
		"--tls-cert-file=" + dir.path(serverCert),
		"--tls-private-key-file=" + dir.path(serverKey),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + dir.path(accountsPublic),
		"--service-account-signing-key-file=" + dir.path(accountsKey),
		"--allow-privileged=true",
		"--disable-admission-plugins=" + strings.Join(disabled, ","),
		// Only tests use it: no requests are delayed.
		"--enable-priority-and-fairness=false",
		"--max-requests-inflight=0",
		"--max-mutating-requests-inflight=0",
	}
}

// parse reads a component's own flags.
func parse(sets cliflag.NamedFlagSets, arguments []string) error {
	flags := pflag.NewFlagSet("localkube", pflag.ContinueOnError)
	for _, name := range sets.Order {
		flags.AddFlagSet(sets.FlagSets[name])
	}
	return flags.Parse(arguments)
}
