package connect

import (
	"context"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// ClusterFlags select the Kubernetes cluster and user. Environment variables and the files of
// kubectl are the defaults. Credentials have no flags, since other users can read a command
// line.
type ClusterFlags struct {
	session    *process.Session
	kubeconfig string
	context    string

	once   sync.Once
	opened *kubeclient.Client
	err    error

	reach   sync.Once
	reached *kubecluster.Cluster
}

// Register gives a command the flags.
func (o *ClusterFlags) Register(cmd *cobra.Command, s *process.Session) {
	o.session = s
	f := pflag.NewFlagSet("cluster", pflag.ContinueOnError)
	f.StringVar(&o.kubeconfig, "kubeconfig", "",
		"Kubeconfig `FILE` (KUBE_CONFIG_PATH, KUBECONFIG, ~/.kube/config, or the service account of the pod).")
	f.StringVar(&o.context, "context", "", "`NAME` of the kubeconfig context (KUBE_CTX, or the current context).")
	process.AddFlags(cmd, storeFlags, f)
	_ = cmd.MarkFlagFilename("kubeconfig")
}

// client prepares the client of the command, without API calls.
func (o *ClusterFlags) client() (*kubeclient.Client, error) {
	o.once.Do(func() {
		config := kubeclient.Config{ConfigPath: o.kubeconfig, ConfigContext: o.context, Logger: o.session.Logger()}
		config = config.WithEnvironment(o.session.Getenv).WithKubectlDefaults(o.session.Getenv)
		o.opened, o.err = kubeclient.Open(config, "gpupool/"+o.session.Build.Version)
	})
	return o.opened, o.err
}

// Reach prepares the adapter of the cluster once, without API calls.
func (o *ClusterFlags) Reach() (*kubecluster.Cluster, error) {
	client, err := o.client()
	if err != nil {
		return nil, err
	}
	o.reach.Do(func() { o.reached = kubecluster.New(client) })
	return o.reached, nil
}

// Cluster returns a function that prepares the cluster.
func (o *StoreFlags) Cluster() func(context.Context) (reconcile.Cluster, error) {
	return func(context.Context) (reconcile.Cluster, error) {
		reached, err := o.cluster.Reach()
		if err != nil {
			return nil, err
		}
		return reached, nil
	}
}

// Client returns the client of the cluster.
func (o *StoreFlags) Client() (*kubeclient.Client, error) { return o.cluster.client() }

// Reach returns the adapter of the cluster.
func (o *StoreFlags) Reach() (*kubecluster.Cluster, error) { return o.cluster.Reach() }
