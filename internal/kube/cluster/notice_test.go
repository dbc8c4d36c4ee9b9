package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

func getNode(t *testing.T, server *kubetest.Cluster, name string) *corev1.Node {
	t.Helper()
	n, err := server.Client().CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// others are a node's taints and conditions but ours.
func others(n *corev1.Node) (out []string) {
	for _, taint := range n.Spec.Taints {
		if taint.Key != cluster.NoticeTaint {
			out = append(out, taint.ToString())
		}
	}
	for _, c := range n.Status.Conditions {
		if c.Type != cluster.NoticeCondition {
			out = append(out, string(c.Type)+"="+string(c.Status))
		}
	}
	return out
}

// TestNoticeIsSetAndCleared marks a node once, keeps other conditions and taints, and leaves none of its own
// when the notice is cleared.
func TestNoticeIsSetAndCleared(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	kubetest.Create(t, server, kubetest.Node("noticed", 8))
	c := connect(t, server.Kubeconfig())
	ctx := t.Context()
	now := time.Now().UTC().Truncate(time.Second)
	at := now.Add(node.NoticeAhead)
	readyNode(t, c, "noticed")
	before := others(getNode(t, server, "noticed"))
	if _, marked, err := c.Notice(ctx, "noticed"); err != nil || marked {
		t.Fatalf("before, it is marked: %t (%v)", marked, err)
	}
	if err := c.SetNotice(ctx, "noticed", node.Notice{At: at}, now); err != nil {
		t.Fatal(err)
	}
	if got := poolNode(t, c, "noticed"); !got.TakenAt.Equal(at) || got.Cordoned {
		t.Fatalf("the node is seen as %+v", got)
	}
	calls := c.Calls()
	if err := c.SetNotice(ctx, "noticed", node.Notice{At: at}, now.Add(5*time.Second)); err != nil {
		t.Fatal(err)
	}
	if after := c.Calls(); after["patch nodes"] != calls["patch nodes"] || after["patch nodes/status"] != calls["patch nodes/status"] {
		t.Errorf("it is written again: %v", after)
	}
	live := getNode(t, server, "noticed")
	var taints []string
	for _, taint := range live.Spec.Taints {
		if taint.Key == cluster.NoticeTaint {
			taints = append(taints, taint.ToString())
		}
	}
	if want := []string{"gpupool/reclaim=" + at.Format("20060102T150405Z") + ":NoSchedule"}; !cmp.Equal(want, taints) {
		t.Errorf("the taints are %q, not %q", taints, want)
	}
	if diff := cmp.Diff(before, others(live)); diff != "" {
		t.Errorf("what others wrote changed\n%s", diff)
	}
	later := at.Add(time.Minute)
	if err := c.SetNotice(ctx, "noticed", node.Notice{At: later}, now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got, marked, err := c.Notice(ctx, "noticed"); err != nil || !marked || !got.Equal(later) {
		t.Errorf("for another time, it has %v, %t (%v)", got, marked, err)
	}
	for range 2 {
		if err := c.ClearNotice(ctx, "noticed"); err != nil {
			t.Fatal(err)
		}
	}
	if got, marked, err := c.Notice(ctx, "noticed"); err != nil || marked || !got.IsZero() {
		t.Errorf("cleared, it has %v, %t (%v)", got, marked, err)
	}
	if diff := cmp.Diff(before, others(getNode(t, server, "noticed"))); diff != "" {
		t.Errorf("what others wrote was cleared\n%s", diff)
	}
	if err := c.SetNotice(ctx, "no-such-node", node.Notice{At: at}, now); err == nil || !strings.Contains(err.Error(), "nodes no-such-node") {
		t.Errorf("a node that is not there: %v", err)
	}
}

// TestWhatOthersWriteIsNoNotice: words, another status, a time that can't be.
func TestWhatOthersWriteIsNoNotice(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	kubetest.Create(t, server, kubetest.Node("misread", 8))
	c := connect(t, server.Kubeconfig())
	now := time.Now()
	at := now.Add(time.Minute)
	for name, condition := range map[string][2]string{
		"words":           {"True", "soon"},
		"another status":  {"False", node.Notice{At: at}.String()},
		"a far time":      {"True", node.Notice{At: at.AddDate(1, 0, 0)}.String()},
		"a time long ago": {"True", node.Notice{At: at.AddDate(-1, 0, 0)}.String()},
	} {
		patch := fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":%q,"reason":"Test","message":%q,"lastHeartbeatTime":%q}]}}`,
			cluster.NoticeCondition, condition[0], condition[1], now.UTC().Format(time.RFC3339))
		if _, err := server.Client().CoreV1().Nodes().Patch(t.Context(), "misread", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{},
			"status"); err != nil {
			t.Fatal(err)
		}
		if got := poolNode(t, c, "misread"); !got.TakenAt.IsZero() {
			t.Errorf("%s is taken for %v", name, got.TakenAt)
		}
	}
	if _, marked, err := c.Notice(t.Context(), "misread"); err != nil || !marked {
		t.Errorf("that there is something to clear is not seen: %t (%v)", marked, err)
	}
}

// heard is what a watch told.
type heard struct {
	mu       sync.Mutex
	notices  []cluster.Noticed
	troubles []error
}

func (h *heard) handlers() cluster.NoticeHandlers {
	return cluster.NoticeHandlers{
		Notice: func(n cluster.Noticed) { h.mu.Lock(); defer h.mu.Unlock(); h.notices = append(h.notices, n) },
		Trouble: func(err error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.troubles = append(h.troubles, err)
		},
	}
}

// of are the notices of a node.
func (h *heard) of(name string) (out []cluster.Noticed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.notices {
		if n.Node == name {
			out = append(out, n)
		}
	}
	return out
}

func (h *heard) trouble() []error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]error{}, h.troubles...)
}

// TestAWatchTellsOfANoticeOnce: of marked nodes, also after the API server was away, and
// not of a notice that is long over.
func TestAWatchTellsOfANoticeOnce(t *testing.T) {
	t.Parallel()
	server := kubetest.StartOwn(t, "--no-scheduler")
	for _, name := range []string{"marked", "unmarked", "old", "later"} {
		kubetest.Create(t, server, kubetest.Node(name, 8))
	}
	c := connect(t, server.Kubeconfig())
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"marked", "old", "later"} {
		must(c.MarkNode(ctx, poolNode(t, c, name), "pool-1"))
	}
	now := time.Now().UTC().Truncate(time.Second)
	must(c.SetNotice(ctx, "old", node.Notice{At: now.Add(-time.Hour)}, now.Add(-time.Hour)))
	var h heard
	watching, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); c.WatchNotices(watching, h.handlers()) }()
	at := now.Add(2 * time.Minute)
	must(c.SetNotice(ctx, "marked", node.Notice{At: at}, now))
	must(c.SetNotice(ctx, "unmarked", node.Notice{At: at}, now))
	wait := func(name string, n int) {
		t.Helper()
		kubetest.WaitFor(t, "the notice of "+name, func(context.Context) error {
			if got := h.of(name); len(got) != n {
				return fmt.Errorf("told are %+v", got)
			}
			return nil
		})
	}
	wait("marked", 1)
	if got := h.of("marked")[0]; got.PoolUID != "pool-1" || !got.TakenAt.Equal(at) {
		t.Errorf("told is %+v", got)
	}
	server.Restart(t)
	must(c.SetNotice(ctx, "later", node.Notice{At: at}, now))
	wait("later", 1)
	must(c.MarkNode(ctx, poolNode(t, c, "unmarked"), "pool-2"))
	wait("unmarked", 1)
	must(c.SetNotice(ctx, "marked", node.Notice{At: at.Add(time.Minute)}, now))
	wait("marked", 2)
	if len(h.of("later")) != 1 || len(h.of("old")) != 0 {
		t.Errorf("told are %+v", h.notices)
	}
	stop()
	<-done
}

// TestAWatchThatIsForbiddenIsTroubleOnce: and no notice.
func TestAWatchThatIsForbiddenIsTroubleOnce(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	c := connect(t, server.ServiceAccountKubeconfig(t, server.Namespace(t), "unknown"))
	var h heard
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); c.WatchNotices(ctx, h.handlers()) }()
	kubetest.WaitFor(t, "the trouble", func(context.Context) error {
		if len(h.trouble()) == 0 {
			return fmt.Errorf("none is reported")
		}
		return nil
	})
	stop()
	<-done
	if all := h.trouble(); len(all) != 1 || !strings.Contains(all[0].Error(), "needs the verb watch on nodes") {
		t.Errorf("told is %v", all)
	}
}
