//go:build unix

package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// BenchmarkNodes compares an idle run over pools of which a tenth have nodes with one over the
// same instances without nodes.
func BenchmarkNodes(b *testing.B) {
	at(b, "pools", []int{1000}, func(b *testing.B, pools int) {
		c, sim := startCluster(b), startCVM(b)
		without, with := filepath.Join(b.TempDir(), "store"), filepath.Join(b.TempDir(), "store")
		seedMachines(b, sim, pools, machinesPerPool)
		declarePools(b, without, pools, 0, "")
		declarePools(b, with, pools, pools/10, c.uid)
		machines := sim.Server.Instances()[:pools/10*machinesPerPool] // in the order of their pools
		each(b, 0, len(machines), func(ctx context.Context, n int) error {
			_, err := kubetest.TryCreate(ctx, c.Cluster, poolNode(machines[n]))
			return err
		})
		over := func(name, dir string, asks bool) run {
			return run{name, func() figures {
				took := reconcile(b, sim, "--store", "directory:"+dir, "--kubeconfig", c.Kubeconfig()).took
				if calls := took["cluster-calls"]; (calls > 0) != asks {
					b.Fatalf("%s, the cluster was called %v times", name, calls)
				}
				return took
			}}
		}
		compareSettled(b, over("without-nodes", without, false), over(fmt.Sprintf("with-%d-nodes", len(machines)), with, true))
	})
}

// poolNode is an instance as a node, about as large as a kubelet's, with its pool's mark.
func poolNode(i cvmsim.Instance) *corev1.Node {
	node := readyNode("node-"+i.InstanceID, kubetest.ProviderID("qcloud:///"+i.AvailabilityZone+"/"+i.InstanceID))
	node.Annotations = map[string]string{kubecluster.NodePoolAnnotation: i.UID}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: i.PrivateIP}, {Type: corev1.NodeHostName, Address: node.Name}}
	node.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Now().Add(-time.Hour))
	for k := range 30 {
		node.Status.Images = append(node.Status.Images, corev1.ContainerImage{
			Names:     []string{fmt.Sprintf("registry.example.com/team/image-%02d@sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945", k)},
			SizeBytes: 1 << 30,
		})
	}
	return node
}
