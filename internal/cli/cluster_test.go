package cli_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

type namespaceKey struct{}

// TestClusterScripts runs the scripts whose store is in a cluster, in a namespace
// of their own: $NAMESPACE of the cluster of $KUBECONFIG.
func TestClusterScripts(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/cluster",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			tb := env.T().(testing.TB)
			w := newWorld(tb, env.WorkDir)
			namespace := cluster.Namespace(tb)
			env.Values[worldKey{}], env.Values[namespaceKey{}] = w, namespace
			env.Vars = append(env.Vars, w.environment()...)
			env.Vars = append(env.Vars, "KUBECONFIG="+cluster.Kubeconfig(), "NAMESPACE="+namespace, "SERVER="+cluster.Config().Host,
				"PODS="+cluster.Namespace(tb))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits,
			"sim":   cmdSim,

			// store NAMESPACE makes a store.
			"store": func(ts *testscript.TestScript, _ bool, _ []string) { clusterProcess(ts, cluster) },
			// pool NAME creates a pool of at least one instance.
			"pool": func(ts *testscript.TestScript, _ bool, args []string) {
				_, err := clusterProcess(ts, cluster).SpotPools().Create(context.Background(), declaration(args[0], 1, 2), 20*time.Second)
				ts.Check(err)
			},
			// budget NAME GPU_HOURS [TIME_ZONE] declares a budget for the pods in $PODS: of 24 hours, or of a day in a zone.
			"budget": func(ts *testscript.TestScript, _ bool, args []string) {
				d := budget.Declaration{Name: args[0], GPUHours: args[1], Window: "24h", Selector: budget.Selector{Namespaces: []string{ts.Getenv("PODS")}}}
				if len(args) > 2 {
					d.Window, d.Period, d.TimeZone = "", budget.Day, args[2]
				}
				_, err := clusterProcess(ts, cluster).Budgets().Create(context.Background(), d.WithDefaults())
				ts.Check(err)
			},
			// stock NAME declares a stock pool of two pods in $PODS that no node fits.
			"stock": func(ts *testscript.TestScript, _ bool, args []string) {
				_, err := clusterProcess(ts, cluster).StockPools().Create(context.Background(), stockpool.Declaration{
					Name: args[0], Namespace: ts.Getenv("PODS"), SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "1Gi", Replicas: 2,
					NodeSelector: map[string]string{"gpupool.example.com/pool": "train"},
				}.WithDefaults(), 0)
				ts.Check(err)
			},
			// runs NAME GPUS has a pod run in $PODS.
			"runs": func(ts *testscript.TestScript, _ bool, args []string) {
				gpus, err := strconv.Atoi(args[1])
				ts.Check(err)
				cluster.WaitRunning(t, kubetest.Create(t, cluster, kubetest.Pod(ts.Getenv("PODS"), args[0], kubetest.GPUs(gpus))))
			},
			// hold LOCK takes a lock.
			"hold": func(ts *testscript.TestScript, _ bool, args []string) {
				lock, err := clusterProcess(ts, cluster).Store.Lock(context.Background(), args[0], 0)
				ts.Check(err)
				ts.Defer(func() { ts.Check(lock.Release()) })
			},
		},
	})
}

// clusterProcess works on the script's store, which it makes, as Terraform does.
func clusterProcess(ts *testscript.TestScript, cluster *kubetest.Cluster) reconcile.World {
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, "gpupool/test")
	ts.Check(err)
	place, err := kubernetes.Open(context.Background(), client, ts.Value(namespaceKey{}).(string), kubernetes.Options{Create: true, Command: "terraform"})
	ts.Check(err)
	p := worldOf(ts).process()
	p.Store = place
	p.Cluster = func(context.Context) (reconcile.Cluster, error) { return kubecluster.New(client), nil }
	return p
}
