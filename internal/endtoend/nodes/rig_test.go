package nodes

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/endtoend/processtest"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

const poolName = "train"

// rig is a pool of a local CVM whose instances are nodes of a cluster, and the calls of gpupool
// to both.
type rig struct {
	t          *testing.T
	server     *kubetest.Cluster
	sim        *cvmsimtest.Sim
	fleet      *fleet
	audit      *audit
	namespace  string
	dir        string // of the store
	kubeconfig string
	pool       spotpool.Declaration
	others     others
}

// newRig returns a rig without a pool, and with foreign instances. Local CVMs count instance
// IDs from the same number, and share the cluster. So skip is how many IDs a scene leaves to
// those before it.
func newRig(t *testing.T, server *kubetest.Cluster, skip int) *rig {
	t.Helper()
	r := &rig{t: t, server: server, audit: &audit{}, namespace: server.Namespace(t), dir: t.TempDir() + "/store"}
	r.sim = cvmsimtest.Start(t, func(o *cvmsim.Options) { o.LaunchDelay, o.TerminateDelay, o.CallLog = -1, -1, r.audit })
	if skip > 0 {
		skipped := cvmsimtest.Seed(t, r.sim, cvmsim.SeedRequest{Count: skip})
		if err := r.sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: skipped, State: "GONE"}); err != nil {
			t.Fatal(err)
		}
	}
	r.kubeconfig = r.audit.kubeconfig(t, server)
	r.others = r.newOthers()
	r.fleet = &fleet{server: server, sim: r.sim.Server, name: r.namespace}
	r.fleet.keep(t)
	return r
}

func (r *rig) place() processtest.Place {
	return processtest.Place{Dir: r.dir, Kubeconfig: r.kubeconfig, CVM: r.sim.URL}
}

func (r *rig) apply() reconcile.World {
	r.t.Helper()
	return r.place().Process(r.t, "terraform")
}

// create creates the pool, has its machines join, and a run mark them.
func (r *rig) create(minimum, maximum int, changes ...func(*spotpool.Declaration)) {
	r.t.Helper()
	d := spotpool.Declaration{
		Name: poolName, Region: "ap-singapore", Minimum: minimum, Maximum: maximum, Nodes: &spotpool.Nodes{},
		Offerings:     []spotpool.Offering{{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-a1b2c3d4"}},
		Configuration: spotpool.Configuration{VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4"},
	}
	for _, change := range changes {
		change(&d)
	}
	state, err := r.apply().SpotPools().Create(r.t.Context(), d.WithDefaults(), 20*time.Second)
	if err != nil {
		r.t.Fatal(err)
	}
	r.pool = state.Declaration
	r.fleet.ready(r.t, minimum)
	r.reconcile()
	want := []string{"RunInstances " + strings.Join(r.own(), " ") + " ok"}
	for _, id := range r.own() {
		want = append(want, "mark "+nodeOf(id))
	}
	got := r.audit.Taken()
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("calls for the creation (-want +got):\n%s", diff)
	}
}

// update is terraform apply with other sizes, which waits for so long.
func (r *rig) update(minimum, maximum int, wait time.Duration) spotpools.State {
	r.t.Helper()
	d := r.pool
	d.Minimum, d.Maximum = minimum, maximum
	state, err := r.apply().SpotPools().Update(r.t.Context(), d, wait)
	if err != nil {
		r.t.Fatal(err)
	}
	r.pool = state.Declaration
	return state
}

func (r *rig) process(out io.Writer, args ...string) cli.Process {
	return processtest.Command(r.place().Environment(), out, out, args...)
}

// gpupool runs the command line, which must succeed, and returns what it prints.
func (r *rig) gpupool(args ...string) string {
	r.t.Helper()
	var out bytes.Buffer
	r.must(r.process(&out, args...), &out)
	return out.String()
}

// data runs gpupool and returns only its data, as of a long run.
func (r *rig) data(args ...string) []byte {
	r.t.Helper()
	var data, said bytes.Buffer
	p := r.process(&said, args...)
	p.Stdout = &data
	r.must(p, &said)
	return data.Bytes()
}

func (r *rig) must(p cli.Process, said *bytes.Buffer) {
	r.t.Helper()
	if code := cli.Run(p); code != 0 {
		r.t.Fatalf("gpupool %s ended with %d\n%s", strings.Join(p.Args, " "), code, said)
	}
}

// serves starts a command that runs until it is stopped, and returns the function that stops
// it.
func (r *rig) serves(args ...string) (stop func()) {
	r.t.Helper()
	var out printed
	p := r.process(&out, args...)
	stopped, ended := make(chan struct{}), make(chan int, 1)
	p.Signals = func(to chan<- os.Signal) func() {
		go func() {
			<-stopped
			to <- syscall.SIGTERM
		}()
		return func() {}
	}
	go func() { ended <- cli.Run(p) }()
	stop = sync.OnceFunc(func() {
		close(stopped)
		if code := <-ended; code != 143 && code != 0 {
			r.t.Errorf("gpupool %s ended with %d\n%s", strings.Join(args, " "), code, &out)
		}
	})
	r.t.Cleanup(stop)
	return stop
}

type printed struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *printed) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func (r *rig) reconcile() string {
	r.t.Helper()
	return r.gpupool("reconcile")
}

func (r *rig) says(printed string, texts ...string) {
	r.t.Helper()
	whole := strings.Join(strings.Fields(printed), " ") // lines are broken anywhere
	for _, text := range texts {
		if !strings.Contains(whole, text) {
			r.t.Errorf("nothing says %q:\n%s", text, printed)
		}
	}
}

func (r *rig) pass(d time.Duration) {
	r.t.Helper()
	cvmsimtest.Step(r.t, r.sim, d)
}

// watch passes that much time with a run every five minutes: time that no run observes
// does not count against a machine.
func (r *rig) watch(d time.Duration) {
	r.t.Helper()
	for every := 5 * time.Minute; d > 0; d -= every {
		r.pass(min(d, every))
		r.reconcile()
	}
}

// own are the ids of the pool's instances, sorted.
func (r *rig) own() []string {
	var ids []string
	for _, i := range r.sim.Server.Instances() {
		if i.Pool == poolName {
			ids = append(ids, i.InstanceID)
		}
	}
	slices.Sort(ids)
	return ids
}

func (r *rig) launched(before []string) string {
	r.t.Helper()
	fresh := slices.DeleteFunc(r.own(), func(id string) bool { return slices.Contains(before, id) })
	if len(fresh) != 1 {
		r.t.Fatalf("%v were launched, not one", fresh)
	}
	return fresh[0]
}

// deploy runs a pod of two GPUs on each of so many nodes.
func (r *rig) deploy(replicas int) {
	r.t.Helper()
	kubetest.Create(r.t, r.server, kubetest.Deployment(r.namespace, "work", int32(replicas), kubetest.GPUs(2), kubetest.OnFleet(r.namespace)))
	r.runs(replicas)
}

// runs waits until so many pods run on nodes that work, and returns them by instance.
// Others may wait for a node, and none is left on one that is gone.
func (r *rig) runs(count int) map[string]corev1.Pod {
	r.t.Helper()
	var running map[string]corev1.Pod
	kubetest.WaitFor(r.t, fmt.Sprintf("%d running pods", count), func(ctx context.Context) error {
		pods, err := r.server.Client().CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		running = map[string]corev1.Pod{}
		own := r.own()
		for _, p := range pods.Items {
			id := strings.TrimPrefix(p.Spec.NodeName, "node-")
			switch {
			case id == "":
			case !slices.Contains(own, id):
				return fmt.Errorf("%s is on the node %s, which is gone", p.Name, p.Spec.NodeName)
			case p.DeletionTimestamp != nil:
				return fmt.Errorf("%s is ending", p.Name)
			case p.Status.Phase == corev1.PodRunning:
				running[id] = p
			}
		}
		if len(running) != count {
			return fmt.Errorf("%d run", len(running))
		}
		return nil
	})
	return running
}

// gone waits until a pod exists no more.
func (r *rig) gone(pod corev1.Pod) {
	r.t.Helper()
	r.server.WaitGone(r.t, &pod)
}

func (r *rig) node(id string) *corev1.Node {
	r.t.Helper()
	n, err := r.server.Client().CoreV1().Nodes().Get(r.t.Context(), nodeOf(id), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

// silent waits until the machine of an instance is gone, and its node Unknown.
func (r *rig) silent(id string) {
	r.t.Helper()
	kubetest.WaitFor(r.t, "the kubelet of "+id+" to fall silent", func(context.Context) error {
		for _, c := range r.node(id).Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown {
				return nil
			}
		}
		return fmt.Errorf("it is Ready")
	})
}

// left fails unless only these instances and their nodes are left of the pool, and none is
// cordoned. Foreign objects must be unchanged.
func (r *rig) left(ids ...string) {
	r.t.Helper()
	slices.Sort(ids)
	if diff := cmp.Diff(ids, r.own()); diff != "" {
		r.t.Errorf("instances (-want +got):\n%s", diff)
	}
	nodes, err := r.server.FleetNodes(r.t.Context(), r.namespace)
	if err != nil {
		r.t.Fatal(err)
	}
	var names []string
	for _, n := range nodes {
		names = append(names, strings.TrimPrefix(n.Name, "node-"))
		if n.Spec.Unschedulable || n.Annotations[kubecluster.NodeCordonAnnotation] != "" || n.Annotations[kubecluster.NodePoolAnnotation] != r.pool.UID {
			r.t.Errorf("the node %s: unschedulable %t, annotations %v", n.Name, n.Spec.Unschedulable, n.Annotations)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff(ids, names); diff != "" {
		r.t.Errorf("nodes (-want +got):\n%s", diff)
	}
	r.reconcile()
	r.audit.Wants(r.t, "of a run that has nothing to do")
	r.untouched()
}
