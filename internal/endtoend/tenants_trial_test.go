package endtoend

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// make tenants has both trials go on for longer.
var (
	tenantsFor = flag.Duration("tenants-for", 6*time.Second, "for how long a tenant tries everything")
	backlog    = flag.Int("backlog", 12, "how many pods wait")
)

// TestATenantTriesEverything has a budget of 50 GPU-hours, selected only by a label, on 16
// GPUs. A tenant of another namespace tries everything at random. Usage stays within 1% of what
// the label's pods held, and no pod of another user ends.
func TestATenantTriesEverything(t *testing.T) {
	t.Parallel()
	s := newCrowdedTenancy(t, 8)
	for n := range 7 {
		s.innocent = append(s.innocent, s.server.WaitRunning(t, kubetest.Create(t, s.server,
			kubetest.Pod(s.others, fmt.Sprintf("innocent-%d", n), s.team, kubetest.GPUs(1), kubetest.OnNode(s.nodes[0].Name)))))
	}
	s.declare("others", s.ofTeam(), `{"gpu_hours":"50"}`)
	s.turn()
	const seed = 7
	attempts := &attempts{tenancy: s, random: rand.New(rand.NewPCG(seed, seed)), count: map[string]int{}} //nolint:gosec // chance, not secrecy
	stop := attempts.goOn()
	defer stop()
	var last turn
	runs := 0
	// A run that observed the cluster after all that time ends it.
	for deadline := time.Now().Add(*tenantsFor); !t.Failed() && (runs == 0 || s.budget(last, "others").AsOf.Before(deadline)); runs++ {
		time.Sleep(time.Second)
		last = s.turn()
		if len(s.budget(last, "others").Enforced) > 0 {
			t.Errorf("the others' budget is enforced:\n%s", last.text)
		}
		s.wantUsage(last, "others", s.ofOthers)
	}
	stop()
	if t.Failed() {
		t.Logf("tried: %v", attempts.count)
	}
	b := s.budget(last, "others")
	t.Logf("%d runs, %d attempts of %d kinds: %d milli-GPU-seconds counted, %d held; %d pods of others left alone",
		runs, attempts.made, len(attempts.count), b.ConsumedMilliGPUSeconds, s.truth.milliGPUSeconds(b.AsOf, s.ofOthers), len(s.innocent))
}

type attempts struct {
	*tenancy
	random *rand.Rand
	made   int
	count  map[string]int
}

// goOn tries one thing after the other until it is stopped.
func (a *attempts) goOn() (stop func()) {
	ctx, cancel := context.WithCancel(a.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(150 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
				a.next()
			}
		}
	}()
	return func() { cancel(); <-done }
}

// next tries one thing. What the API server refuses is refused.
func (a *attempts) next() {
	a.made++
	name := fmt.Sprintf("try-%d", a.made)
	user := a.editor
	if a.random.IntN(2) == 0 {
		user = a.creator
	}
	kinds := slices.Sorted(maps.Keys(forgeries))
	kinds = append(kinds, "hold", "hold-and-relabel", "relabel", "delete", "delete-slowly", "annotate", "clear-finished", "clear-finished")
	kind := kinds[a.random.IntN(len(kinds))]
	a.count[kind]++
	ctx := a.t.Context()
	pods := user.CoreV1().Pods(a.namespace)
	if options, forged := forgeries[kind]; forged {
		_, _ = pods.Create(ctx, kubetest.Pod(a.namespace, name, append(options(a.tenancy), a.team)...), metav1.CreateOptions{})
		return
	}
	held := []kubetest.PodOption{kubetest.GPUs(1 + a.random.IntN(3)), a.onNode(1), kubetest.StopsAfter(time.Duration(a.random.IntN(3)) * time.Second)}
	switch kind {
	case "hold": // and pay for it from the others' budget
		_, _ = pods.Create(ctx, kubetest.Pod(a.namespace, name, append(held, a.team)...), metav1.CreateOptions{})
	case "hold-and-relabel":
		_, _ = pods.Create(ctx, kubetest.Pod(a.namespace, name, held...), metav1.CreateOptions{})
		_ = a.patch(user, name, fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, teamKey, a.others))
	case "relabel":
		_ = a.patch(user, a.any(), fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, teamKey, []string{a.others, "absent"}[a.random.IntN(2)]))
	case "annotate":
		_ = a.patch(user, a.any(), `{"metadata":{"annotations":{"gpu-fraction":"1","gpu-fraction-num-devices":"999","kubernetes.io/config.mirror":"x"}}}`)
	case "delete":
		_ = pods.Delete(ctx, a.any(), metav1.DeleteOptions{})
	case "delete-slowly":
		_ = pods.Delete(ctx, a.any(), metav1.DeleteOptions{GracePeriodSeconds: new(int64(decades))})
	case "clear-finished":
		_ = a.editor.CoreV1().Pods(a.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "status.phase=Failed"})
	}
}

// any is the name of some pod that was tried before.
func (a *attempts) any() string { return fmt.Sprintf("try-%d", 1+a.random.IntN(a.made)) }

// TestABacklogStartsNothing: pods wait for GPUs that enforcement frees. Under evict and pause
// none starts after the limit was crossed. A freeze admits those that existed before it, and
// reports them.
func TestABacklogStartsNothing(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"evict", "pause", "freeze"} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			s := newTenancy(t, 8)
			s.declareOwn(fmt.Sprintf(`{"gpu_hours":"0.002","enforcement":{"action":%q}}`, action))
			holders := s.queue(action)
			first := s.turnUntil("the budget to be enforced", s.exceeded("own"))
			if !strings.Contains(first.text, "wait") {
				t.Errorf("nothing is said of pods that wait:\n%s", first.text)
			}
			runs := 1
			for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline) && (action == "freeze" || s.anyLeft()); runs++ {
				s.turn()
			}
			last := s.turn()
			since := *s.budget(last, "own").ExceededSince
			// The eight start one after another, and on a slow machine the first use the
			// budget up before the last has started.
			started := s.truth.startedAfter(since, func(h *held) bool { return s.ofTenant(h) && !holders[h.last.UID] })
			t.Logf("%s: of %d pods that waited, %d started after the crossing, in %d runs", action, *backlog, started, runs+1)
			if action != "freeze" && started > 0 {
				t.Errorf("%d pods that waited started after the crossing", started)
			}
			s.wantUsage(last, "own", s.ofTenant)
		})
	}
}

// queue has eight pods hold the node's GPUs, and others wait for them: of
// workloads where they are to be paused, else bare ones. Under a freeze the eight
// end by themselves. It returns the eight.
func (s *tenancy) queue(action string) map[types.UID]bool {
	s.t.Helper()
	holders := map[types.UID]bool{}
	note := func() {
		for _, pod := range s.waitForPods(8) {
			holders[pod.UID] = true
		}
	}
	on := []kubetest.PodOption{kubetest.GPUs(1), kubetest.OnNode(s.nodes[1].Name)}
	if action == "pause" {
		s.deploy(kubetest.Deployment(s.namespace, "runs", 8, on...))
		note()
		for n := 0; n < *backlog; n += 10 {
			job := kubetest.Job(s.namespace, fmt.Sprintf("waits-%d", n), int32(min(10, *backlog-n)), on...)
			if _, err := s.editor.BatchV1().Jobs(s.namespace).Create(s.t.Context(), job, metav1.CreateOptions{}); err != nil {
				s.t.Fatal(err)
			}
		}
	} else {
		for n := range 8 + *backlog {
			options := on
			if n < 8 && action == "freeze" {
				options = append(slices.Clone(on), kubetest.RunFor(6*time.Second))
			}
			s.create(s.editor, fmt.Sprintf("pod-%03d", n), options...)
			if n == 7 {
				note()
			}
		}
	}
	kubetest.WaitFor(s.t, "the backlog to be there", func(ctx context.Context) error {
		list, err := s.editor.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(list.Items) < 8+*backlog {
			err = fmt.Errorf("%d of %d pods", len(list.Items), 8+*backlog)
		}
		return err
	})
	return holders
}

// anyLeft reports whether pods of the tenant are pending, or hold GPUs.
func (s *tenancy) anyLeft() bool {
	list, err := s.editor.CoreV1().Pods(s.namespace).List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.ContainsFunc(list.Items, func(pod corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodRunning
	})
}

// startedAfter counts the pods that a kubelet took on after a moment.
func (w *truth) startedAfter(at time.Time, of func(*held) bool) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, h := range w.pods {
		if of(h) && h.last.Status.StartTime != nil && h.last.Status.StartTime.After(at) {
			n++
		}
	}
	return n
}
