package gpu_test

import (
	"math/big"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// having is a world of one node with a capacity.
func having(capacity string) gpu.World {
	n := node(nil, "")
	n.Status.Capacity = list(capacity)
	return worldOf(gpu.NodeOf(n))
}

func TestNothingCountsBeforeTheKubeletTookThePod(t *testing.T) {
	t.Parallel()
	ghost := pod(asks("nvidia.com/gpu=4"))
	ghost.Spec.NodeName, ghost.Status.StartTime, ghost.Status.Phase = "no-such-node", nil, corev1.PodPending
	for name, w := range map[string]gpu.World{"a node that isn't there": worldOf(), "no nodes at all": {Now: now}, "its own node": world(nil)} {
		s := table(t).Observe(ghost, w)
		if s.Scheduled != (ledger.Start{}) || s.Running != (ledger.Start{}) || s.End != (ledger.End{}) {
			t.Errorf("%s: it holds GPUs from %v to %v", name, s.Scheduled, s.End)
		}
	}
	// A controller that deletes pods without a node fails it, and that is not an end.
	ghost.Status.Phase = corev1.PodFailed
	transition(ghost, corev1.DisruptionTarget, corev1.ConditionTrue, at(30))
	if s := table(t).Observe(ghost, worldOf()); s.Scheduled != (ledger.Start{}) || s.End != (ledger.End{}) {
		t.Errorf("it held GPUs from %v to %v", s.Scheduled, s.End)
	}
	taken := pod(asks("nvidia.com/gpu=4"))
	wantStart(t, see(t, taken).Scheduled, 1, ledger.PodScheduled)
}

func TestAPodCountsNoMoreThanItsNodeHas(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, asks, capacity, want, problem string
		rules                               []string
		estimate                            bool
	}{
		{name: "as much as there is", asks: "nvidia.com/gpu=8", capacity: "nvidia.com/gpu=8", want: "8"},
		{name: "more than there is", asks: "nvidia.com/gpu=9999", capacity: "nvidia.com/gpu=8", want: "8", problem: "its node node-1 has no more than 8"},
		{name: "more than any machine has", asks: "nvidia.com/gpu=1e18", capacity: "nvidia.com/gpu=8", want: "8", problem: "no more than 8"},
		{
			name: "what the node never listed", asks: "nvidia.com/gpu=4", capacity: "cpu=8 amd.com/gpu=8", want: "0",
			problem: "4 of nvidia.com/gpu, and its node node-1 has none",
		},
		{name: "slices", asks: "nvidia.com/mig-1g.5gb=70", capacity: "nvidia.com/mig-1g.5gb=7", want: "1", problem: "no more than 7"},
		{
			name: "cores of cards", asks: "tke.cloud.tencent.com/qgpu-core=9000", capacity: "tke.cloud.tencent.com/qgpu-core=400", want: "4",
			problem: "no more than 400",
		},
		{name: "what Kubernetes itself refuses", asks: "cpu=4", capacity: "cpu=2", rules: []string{"cpu=1/4"}, want: "1"},
		{name: "one of two", asks: "nvidia.com/gpu=2 amd.com/gpu=64", capacity: "nvidia.com/gpu=8 amd.com/gpu=4", want: "6", problem: "amd.com/gpu"},
		{name: "a capacity that was never seen", asks: "nvidia.com/gpu=4", capacity: "nvidia.com/gpu=0", want: "4", problem: "an estimate", estimate: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := table(t, tt.rules...).Observe(pod(asks(tt.asks)), having(tt.capacity))
			if got := gpus(s); got != tt.want {
				t.Errorf("it holds %s GPUs, want %s", got, tt.want)
			}
			if (s.Shown == 0) != tt.estimate || s.Capped != (tt.problem != "" && !tt.estimate) {
				t.Errorf("it is shown by %d, capped %v", s.Shown, s.Capped)
			}
			if tt.problem == "" {
				undoubted(t, s)
			} else {
				doubted(t, s, tt.problem)
			}
			if s.Incomplete {
				t.Error("all that it can hold is counted")
			}
		})
	}
}

// TestPartsOfCardsAreNoMoreThanTheCards requests many parts of few cards: nodes list more parts
// than cards.
func TestPartsOfCardsAreNoMoreThanTheCards(t *testing.T) {
	t.Parallel()
	n := node(map[string]string{"nvidia.com/gpu.memory": "16384"}, "nvidia.com/gpu=20")
	n.Annotations = map[string]string{"hami.io/node-nvidia-register": `[{"devmem":16384},{"devmem":16384}]`}
	s := table(t).Observe(pod(asks("nvidia.com/gpu=20")), worldOf(gpu.NodeOf(n)))
	if gpus(s) != "2" {
		t.Errorf("it holds %s GPUs, want the two cards", gpus(s))
	}
	doubted(t, s, "more than the 2 cards")

	more, err := gpu.Rules{Extra: []string{"nvidia.com/gpumem"}}.Table()
	if err != nil {
		t.Fatal(err)
	}
	s = more.Observe(pod(asks("nvidia.com/gpu=1 nvidia.com/gpumem=1000000")), worldOf(gpu.NodeOf(n)))
	if got := unitsOf(s, "nvidia.com/gpumem"); got != "16384" {
		t.Errorf("it holds %s MiB of one card", got)
	}
}

func TestANodeThatNothingShowsIsAnEstimate(t *testing.T) {
	t.Parallel()
	p := pod(asks("nvidia.com/gpu=4"))
	for name, w := range map[string]gpu.World{"gone": worldOf(), "no nodes at all": {Now: now}} {
		s := table(t).Observe(p, w)
		if s.Shown != 0 || gpus(s) != "4" || s.Scheduled.At == 0 {
			t.Errorf("%s: it is shown by %d, holds %s GPUs since %v", name, s.Shown, gpus(s), s.Scheduled)
		}
	}
	if s := see(t, p); s.Shown != ledger.Confirmed {
		t.Errorf("its node was seen, and it is shown by %d", s.Shown)
	}
	labels := map[string]string{"nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.memory": "15360", "nvidia.com/gpu.replicas": "1"}
	told := table(t).Observe(p, world(labels))
	if told.Shown != ledger.Confirmed+3 {
		t.Errorf("its node tells three things, and it is shown by %d", told.Shown)
	}
}

// TestANewNodeMayStillGetItsLabels: until then, what its pods hold is provisional.
func TestANewNodeMayStillGetItsLabels(t *testing.T) {
	t.Parallel()
	memory := map[string]string{"nvidia.com/gpu.memory": "15360"}
	for name, tt := range map[string]struct {
		age    time.Duration
		labels map[string]string
		want   int
	}{
		"new":                           {10*time.Minute - time.Second, nil, ledger.Provisional},
		"ten minutes old":               {10 * time.Minute, nil, ledger.Confirmed},
		"new, by a clock that is ahead": {-time.Minute, nil, ledger.Provisional},
		"new, with a model only":        {time.Minute, map[string]string{"accelerator": "Tesla-T4"}, ledger.Provisional},
		"new, with its labels":          {time.Minute, memory, ledger.Confirmed + 1},
		"old, with its labels":          {time.Hour, memory, ledger.Confirmed + 1},
	} {
		n := plentiful(tt.labels)
		n.Created = ledger.TimeOf(now.Add(-tt.age))
		if s := table(t).Observe(pod(asks("nvidia.com/gpu=4")), worldOf(n)); s.Shown != tt.want {
			t.Errorf("%s: shown by %d, want %d", name, s.Shown, tt.want)
		}
	}
}

// TestNodesOfOneName: the pod's start decides which of them was its node.
func TestNodesOfOneName(t *testing.T) {
	t.Parallel()
	made := func(uid string, minutes float64, gpus string, gone bool) gpu.Node {
		n := node(nil, "nvidia.com/gpu="+gpus)
		n.UID, n.CreationTimestamp = "node-uid", at(minutes)
		made := gpu.NodeOf(n)
		made.UID, made.Gone = uid, gone
		return made
	}
	earlier, later := made("earlier", -600, "2", true), made("later", 60, "8", false)
	ended := failed("")
	ended.Spec.Containers = []corev1.Container{asks("nvidia.com/gpu=9")}
	ended.Status.ContainerStatuses = with(ran(at(2), at(30)))
	going := pod(asks("nvidia.com/gpu=9"))
	young := pod(asks("nvidia.com/gpu=9"))
	young.CreationTimestamp, young.Status.Conditions[0].LastTransitionTime = at(90), at(91)
	for _, tt := range []struct {
		name  string
		pod   *corev1.Pod
		nodes []gpu.Node
		want  string // of the node
		gpus  string
	}{
		{"the node before", ended, []gpu.Node{later, earlier}, "earlier", "2"},
		{"the node now", young, []gpu.Node{earlier, later}, "later", "8"},
		{"a node of which nothing is known", ended, []gpu.Node{later}, "", "9"},
		{"a node that registered again", going, []gpu.Node{later}, "later", "8"},
	} {
		s := table(t).Observe(tt.pod, worldOf(tt.nodes...))
		if s.Node.UID != tt.want || gpus(s) != tt.gpus || s.Node.Gone || (s.Shown == 0) != (tt.want == "") {
			t.Errorf("%s: it is on %+v, and holds %s GPUs, shown by %d", tt.name, s.Node, gpus(s), s.Shown)
		}
	}
	if s := table(t).Observe(going, worldOf(earlier)); !s.Node.Gone || s.Shown == 0 || gpus(s) != "2" {
		t.Errorf("a remembered node: %+v, %s GPUs, shown by %d", s.Node, gpus(s), s.Shown)
	}
}

func text(n *big.Rat) string {
	if n == nil {
		return "<nil>"
	}
	return n.RatString()
}

func TestClaimsAreOfTheNodesDevices(t *testing.T) {
	t.Parallel()
	elsewhere := "node-2"
	inventory := gpu.NewInventory(append(sliceList(), sliceOn(elsewhere, "gpu-far")))
	far := allocated("r", nvidiaDriver, "gpu-far")
	far.Pool = elsewhere
	s := table(t).Observe(claiming(), withClaims(inventory, claim([]string{"uid-1"}, far)))
	if gpus(s) != "0" {
		t.Errorf("a device of another node: it holds %s GPUs", gpus(s))
	}
	doubted(t, s, "is on the node node-2")

	// Devices in no slice are at most as many as the node's slices ever offered.
	gone := func(n int) []result {
		var list []result
		for i := range n {
			r := allocated("r", nvidiaDriver, "gone-"+string(rune('a'+i)))
			list = append(list, r)
		}
		return list
	}
	w := withClaims(gpu.NewInventory(nil), claim([]string{"uid-1"}, gone(3)...))
	if s := table(t).Observe(claiming(), w); gpus(s) != "0" {
		t.Errorf("a node that never offered any: it holds %s GPUs", gpus(s))
	}
	n := gpu.NodeOf(node(nil, ""))
	offering := gpu.NewInventory([]*sliceType{sliceOn("node-1", "gpu-a"), sliceOn("node-1", "gpu-b")})
	offering.Offer(&n)
	remembered := worldOf(n)
	remembered.Claims, remembered.Inventory = w.Claims, w.Inventory
	s = table(t).Observe(claiming(), remembered)
	if gpus(s) != "2" || !s.Capped {
		t.Errorf("a node that offered two: it holds %s GPUs", gpus(s))
	}
}

// TestRequestsThatADriverServesAreTheSchedulersWord: the node need not list them.
func TestRequestsThatADriverServesAreTheSchedulersWord(t *testing.T) {
	t.Parallel()
	p := pod(asks("nvidia.com/gpu=2"))
	p.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{
		ResourceClaimName: "claim-1",
		RequestMappings:   []corev1.ContainerExtendedResourceRequest{{ContainerName: "main", ResourceName: "nvidia.com/gpu", RequestName: "r"}},
	}
	w := having("cpu=8")
	w.Claims = withClaims(nil, claim(nil, allocated("r", nvidiaDriver, "gpu-1"))).Claims
	s := table(t).Observe(p, w)
	if gpus(s) != "2" || s.Shown == 0 {
		t.Errorf("it holds %s GPUs, shown by %d", gpus(s), s.Shown)
	}
}

// TestNodesAreRememberedAsTheyWere: a remembered node weighs its pods as before.
func TestNodesAreRememberedAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, labels := range []map[string]string{
		nil,
		{"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.memory": "15360", "karpenter.sh/capacity-type": "spot"},
		{"nvidia.com/gpu.product": "NVIDIA-A30-MIG-1g.6gb", "nvidia.com/mig.strategy": "single", "nvidia.com/gpu.slices.gi": "1"},
		{"amd.com/compute-memory-partition": "cpx_nps4", "amd.com/gpu.product-name": "AMD_Instinct_MI300A"},
		{"nvidia.com/gpu.count": "2"}, {"nvidia.com/gpu.count": "2", "nvidia.com/gpu.replicas": "1"},
	} {
		n := gpu.NodeOf(node(labels, "nvidia.com/gpu=8 amd.com/gpu=8"))
		recalled := gpu.Node{Name: n.Name, UID: n.UID, Capacity: n.Capacity}
		recalled.Recall(n.Traits())
		p := pod(asks("nvidia.com/gpu=1 amd.com/gpu=1"))
		was, is := table(t).Observe(p, worldOf(n)), table(t).Observe(p, worldOf(recalled))
		if gpus(was) != gpus(is) || was.Shown != is.Shown || was.Node.Model != is.Node.Model || was.Node.Spot != is.Node.Spot {
			t.Errorf("it was %s GPUs on %+v, and is %s on %+v", gpus(was), was.Node, gpus(is), is.Node)
		}
	}
}

// TestTheMostThatWasSeenCounts: a capacity falls to zero while a kubelet restarts, and labels
// vanish while their program does.
func TestTheMostThatWasSeenCounts(t *testing.T) {
	t.Parallel()
	full := gpu.NodeOf(node(map[string]string{"nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.replicas": "4"}, "nvidia.com/gpu=8"))
	bare := gpu.NodeOf(node(nil, "nvidia.com/gpu=0 amd.com/gpu=1"))
	bare.NotReady = true
	for _, both := range [][2]gpu.Node{{full, bare}, {bare, full}} {
		n := both[0]
		n.Merge(&both[1])
		s := table(t).Observe(pod(asks("nvidia.com/gpu=8")), worldOf(n))
		if gpus(s) != "2" || s.Node.Model != "Tesla-T4" || n.Capacity["amd.com/gpu"].RatString() != "1" {
			t.Errorf("it holds %s GPUs on %+v", gpus(s), n)
		}
	}
	if full.Capacity["amd.com/gpu"] != nil || bare.Capacity["nvidia.com/gpu"].Sign() != 0 {
		t.Error("merging changed what others share")
	}
}

func TestStartedContainersKeepARefusedPodsPast(t *testing.T) {
	t.Parallel()
	p := failed("UnexpectedAdmissionError")
	p.Status.ContainerStatuses = with(ran(at(2), at(60)))
	wantEnd(t, see(t, p), 60, ledger.ContainerFinished)
	if s := see(t, p); s.Refused != 0 {
		t.Errorf("it was refused at %v, and ran", s.Refused.Time().Format(time.TimeOnly))
	}
}

// TestStaticPodsCountNothing: a kubelet can create one in any namespace, on a node that it describes
// itself.
func TestStaticPodsCountNothing(t *testing.T) {
	t.Parallel()
	mirror := func(c corev1.Container) *corev1.Pod {
		p := pod(c)
		p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "h"}
		return p
	}
	for _, count := range []string{"1", "9000", "1e18"} {
		s := table(t).Observe(mirror(asks("nvidia.com/gpu="+count)), having("nvidia.com/gpu=1000000"))
		if len(s.Shares) > 0 || s.Holds() || !s.Incomplete || !s.Mirror {
			t.Errorf("%s: it holds %v", count, s.Shares)
		}
		doubted(t, s, "it is a static pod, and only its node vouches for it: not counted")
	}
	more, err := gpu.Rules{Extra: []string{"example.com/npu"}}.Table()
	if err != nil {
		t.Fatal(err)
	}
	if s := more.Observe(mirror(asks("example.com/npu=9")), having("example.com/npu=9")); len(s.Shares) > 0 || !s.Incomplete {
		t.Errorf("it holds %v", s.Shares)
	}
	undoubted(t, see(t, mirror(asks("cpu=1 nvidia.com/gpu=0"))))
	reserving := mirror(asks("nvidia.com/gpu=1"))
	reserving.Namespace, reserving.Labels = "kai-resource-reservation", map[string]string{"runai-gpu-group": "g"}
	if _, _, ok := gpu.ReservationOf(reserving); ok {
		t.Error("it reserves a GPU for fractions")
	}
}

// TestMoreThanANodeIsBelievedToHaveIsAnEstimate: a node reports its own capacity.
func TestMoreThanANodeIsBelievedToHaveIsAnEstimate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		asks     string
		estimate bool
	}{
		{"nvidia.com/gpu=64", false},
		{"nvidia.com/gpu=65", true},
		{"nvidia.com/gpu=40 amd.com/gpu=40", true},
		{"nvidia.com/mig-1g.5gb=112", false},
		{"nvidia.com/mig-1g.5gb=800", true},
	} {
		s := table(t).Observe(pod(asks(tt.asks)), having("nvidia.com/gpu=1000000 amd.com/gpu=1000000 nvidia.com/mig-1g.5gb=1000000"))
		if (s.Shown == 0) != tt.estimate {
			t.Errorf("%s: it is shown by %d", tt.asks, s.Shown)
		}
		if tt.estimate {
			doubted(t, s, "more than the 64 that any node is believed to have: an estimate")
		} else {
			undoubted(t, s)
		}
	}
	own := table(t, "nvidia.com/gpu=100").Observe(pod(asks("nvidia.com/gpu=8")), having("nvidia.com/gpu=8"))
	if own.Shown == 0 {
		t.Error("a weight of the user's own makes it an estimate")
	}
	if got := table(t).Allocatable(node(nil, "nvidia.com/gpu=9000"), nil).RatString(); got != "64" {
		t.Errorf("the node can assign %s GPUs", got)
	}
}
