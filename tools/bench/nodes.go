//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

const (
	manyPools = 1000
	// nodePools are those of them whose instances are nodes.
	nodePools = 100
)

// measureNodes measures an idle run over pools a tenth of which have nodes, beside one
// over the same instances where none has. They take turns, and the best of each counts.
func measureNodes(ctx context.Context, b *bench) error {
	server, err := b.startKubernetes(ctx)
	if err != nil {
		return err
	}
	defer server.Stop()
	sim, err := b.startCVM(ctx)
	if err != nil {
		return err
	}
	defer sim.Stop()
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: server.Kubeconfig}, "gpupool-bench")
	if err != nil {
		return err
	}
	cluster, err := client.UID(ctx)
	if err != nil {
		return err
	}
	without, with := filepath.Join(b.dir, "store-without"), filepath.Join(b.dir, "store-with")
	if err := declarePools(ctx, sim, without, manyPools); err != nil {
		return err
	}
	err = declareRecords(ctx, with, manyPools, func(n int, d *spotpool.Declaration) {
		if n < nodePools {
			d.Nodes, d.ClusterUID = &spotpool.Nodes{}, cluster
		}
	})
	if err != nil {
		return err
	}
	seeded, err := seedPoolNodes(ctx, sim, client)
	if err != nil {
		return err
	}
	runs, err := takeTurns(4, without, with, func(dir string) (reconciled, error) {
		return b.reconcileCloud(ctx, sim, dir, "--kubeconfig", server.Kubeconfig)
	})
	if err != nil {
		return err
	}
	if total(runs[0].cluster) > 0 || total(runs[1].cluster) == 0 {
		return fmt.Errorf("the cluster was called %d times without nodes, and %d times with", total(runs[0].cluster), total(runs[1].cluster))
	}
	fmt.Println("| idle run | instances | of them nodes | calls of the cloud | of the cluster | wall | processor time | peak memory |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for n, nodes := range []int{0, seeded} {
		r := runs[n]
		fmt.Printf("| %s | %d | %d | %d | %d | %s | %s | %s |\n", []string{"without nodes", "with nodes"}[n], manyPools*machinesPerPool, nodes,
			total(r.calls), total(r.cluster), seconds(r.wall), seconds(r.cpu), megabytes(r.memory))
	}
	fmt.Printf("| ratio | | | %.2f | | %.2f | %.2f | %.2f |\n", float64(total(runs[1].calls))/float64(total(runs[0].calls)),
		runs[1].wall.Seconds()/runs[0].wall.Seconds(), runs[1].cpu.Seconds()/runs[0].cpu.Seconds(), float64(runs[1].memory)/float64(runs[0].memory))
	return nil
}

// seedPoolNodes makes a node of each instance of the first pools, which bears its pool's
// mark, and returns how many there are.
func seedPoolNodes(ctx context.Context, sim *cvm, client *kubeclient.Client) (int, error) {
	var answer struct {
		Instances []cvmsim.Instance `json:"instances"`
	}
	if err := sim.control(ctx, http.MethodGet, "instances", nil, &answer); err != nil {
		return 0, err
	}
	poolOf := map[string]bool{}
	for n := range nodePools {
		poolOf[poolName(n)] = true
	}
	var list []cvmsim.Instance
	for _, i := range answer.Instances {
		if poolOf[i.Pool] {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return 0, errors.New("there are no instances to be nodes")
	}
	seeds := &seeder{client: client}
	return len(list), seeds.each(ctx, 0, len(list), func(ctx context.Context, n int) error {
		return seeds.created(client.Kubernetes().CoreV1().Nodes().Create(ctx, poolNode(n, list[n]), metav1.CreateOptions{}))
	})
}

// poolNode is an instance as a node, about as large as a kubelet makes it.
func poolNode(n int, i cvmsim.Instance) *corev1.Node {
	node := seedNode(n)
	node.Name = "node-" + i.InstanceID
	node.Annotations = map[string]string{kubecluster.NodePoolAnnotation: i.UID}
	node.Spec.ProviderID = "qcloud:///" + i.AvailabilityZone + "/" + i.InstanceID
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: i.PrivateIP}, {Type: corev1.NodeHostName, Address: node.Name}}
	node.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Now().Add(-time.Hour))
	for k := range 30 {
		node.Status.Images = append(node.Status.Images, corev1.ContainerImage{
			Names:     []string{fmt.Sprintf("registry.example.com/team/image-%02d@sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945", k)},
			SizeBytes: 1 << 30,
		})
	}
	node.Status.Capacity["cpu"] = resource.MustParse("8")
	return node
}
