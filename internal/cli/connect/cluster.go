package connect

import (
	"context"
	"sync"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// ClusterFlags say which cluster is used, and as whom. The environment fills in the
// rest, and then the files that kubectl reads. Credentials have no flags, since
// everyone can read a command line.
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
	f := cmd.Flags()
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "`FILE` that says how to reach the cluster (KUBE_CONFIG_PATH, KUBECONFIG, else ~/.kube/config, else the "+
		"pod's own service account)")
	f.StringVar(&o.context, "context", "", "`NAME` of the kubeconfig's context to use (KUBE_CTX, else the current one)")
	_ = cmd.MarkFlagFilename("kubeconfig")
}

// client prepares the one client of the command. It makes no call yet.
func (o *ClusterFlags) client() (*kubeclient.Client, error) {
	o.once.Do(func() {
		config := kubeclient.Config{ConfigPath: o.kubeconfig, ConfigContext: o.context, Logger: o.session.Logger()}
		config = config.WithEnvironment(o.session.Getenv).WithKubectlDefaults(o.session.Getenv)
		o.opened, o.err = kubeclient.Open(config, "gpupool/"+o.session.Build.Version)
	})
	return o.opened, o.err
}

// Reach prepares what a command asks of the cluster, once. It makes no call yet.
func (o *ClusterFlags) Reach() (*kubecluster.Cluster, error) {
	client, err := o.client()
	if err != nil {
		return nil, err
	}
	o.reach.Do(func() { o.reached = kubecluster.New(client) })
	return o.reached, nil
}

// Cluster returns a function that reaches the cluster.
func (o *StoreFlags) Cluster() func(context.Context) (reconcile.Cluster, error) {
	return func(context.Context) (reconcile.Cluster, error) {
		reached, err := o.cluster.Reach()
		if err != nil {
			return nil, err
		}
		return reached, nil
	}
}

// Reach is the cluster's own adapter, for what runs do not ask of it.
func (o *StoreFlags) Reach() (*kubecluster.Cluster, error) { return o.cluster.Reach() }
