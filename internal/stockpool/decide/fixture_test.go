package decide_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

const clusterUID = "11111111-2222-3333-4444-555555555555"

// because is a reason that only a test gives.
func because(text string) reason.Reason { return reason.OtherVersion(reason.NewForeign(text)) }

// declared is a stock pool of two pods, changed as asked.
func declared(changes ...func(*stockpool.Declaration)) stockpool.Declaration {
	d := stockpool.Declaration{
		Name: "pool-g1", Namespace: "ml", UID: "0123456789abcdef0123456789abcdef", Generation: 1, ClusterUID: clusterUID,
		SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi", GPU: 1, Replicas: 2,
		Labels: map[string]string{"team": "a"}, AllocatedSelector: "session",
	}
	for _, change := range changes {
		change(&d)
	}
	return d.WithDefaults()
}

// world is a cluster with one stock pool: an API server with a Deployment controller that works
// instantly.
type world struct {
	declaration stockpool.Declaration
	journal     stockpool.Journal
	live        *appsv1.Deployment
	pods        []stockpool.Pod
	covers      []decide.Cover
	now         time.Time
	made        int
	history     map[string]history.Event
	see         func(decide.Plan) // it gets each plan, unless nil
	guard       *policyv1.PodDisruptionBudget
	recorded    bool // the store has a record of the pool
	missing     bool // the cluster has no namespace of the pool
	dry         bool // no dry run follows a plan that asks for one
}

func newWorld(d stockpool.Declaration) *world {
	return &world{declaration: d, now: noon, history: map[string]history.Event{}}
}

func (w *world) name(of string) string { w.made++; return fmt.Sprintf("%s-%d", of, w.made) }

func (w *world) observation() stockpool.Observation {
	s := stockpool.Observation{ClusterUID: clusterUID, At: w.now, Pods: w.pods, Guard: w.guard, NamespaceMissing: w.missing}
	if w.live != nil {
		s.Deployment = w.live.DeepCopy()
	}
	return s
}

func (w *world) situation(observed stockpool.Observation) decide.Situation {
	return decide.Situation{Declaration: w.declaration, Journal: w.journal, Observation: observed, Covers: w.covers, Recorded: w.recorded, Now: w.now}
}

// decide decides as a run does, with the result of a dry run if it needs one.
func (w *world) decide() decide.Plan {
	observed := w.observation()
	plan := decide.Decide(w.situation(observed))
	if plan.Ask && !w.dry {
		observed.WouldBe = w.applied(plan.Replicas)
		plan = decide.Decide(w.situation(observed))
	}
	if w.see != nil {
		w.see(plan)
	}
	return plan
}

// applied is what the API server would make of an application.
func (w *world) applied(replicas int) *appsv1.Deployment {
	of := w.live.DeepCopy()
	want := w.declaration.Desired(w.live, w.journal.Container, replicas)
	of.Spec.Replicas, of.Spec.Template = want.Spec.Replicas, want.Spec.Template
	of.Labels = want.Labels
	delete(of.Annotations, stockpool.AnnotationOpened)
	of.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: stockpool.FieldManager, Operation: metav1.ManagedFieldsOperationApply, Time: &metav1.Time{Time: w.now},
	}}
	return of
}

// control is what the Deployment's controller does: it makes pods, and ends those first
// that a ReplicaSet ends first.
func (w *world) control() {
	wanted := 0
	if w.live != nil {
		wanted = int(*w.live.Spec.Replicas)
	}
	for len(w.pods) < wanted {
		w.pods = append(w.pods, stockpool.Pod{Name: w.name("pod"), Phase: "Running", Ready: true, Node: "node-1", Labels: w.declaration.PodLabels()})
	}
	if len(w.pods) > wanted {
		slices.SortStableFunc(w.pods, func(a, b stockpool.Pod) int { return endsBefore(b, a) })
		w.pods = w.pods[:wanted:wanted]
	}
	if w.live != nil {
		w.live.Status = appsv1.DeploymentStatus{
			ObservedGeneration: w.live.Generation, Replicas: int32(wanted), UpdatedReplicas: int32(wanted), ReadyReplicas: int32(wanted),
		}
	}
}

// endsBefore is negative if a ReplicaSet with too many pods deletes the first before the
// second. It follows Less of ActivePodsWithRanks in pkg/controller/controller_utils.go of
// Kubernetes 1.36, up to the deletion cost.
func endsBefore(a, b stockpool.Pod) int {
	later := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return 1
		}
		return -1
	}
	phases := map[string]int{"Pending": 0, "Unknown": 1, "Running": 2}
	cost := func(p stockpool.Pod) int {
		n, _ := strconv.Atoi(p.DeletionCost)
		return n
	}
	return cmp.Or(
		later(a.Node != "", b.Node != ""), cmp.Compare(phases[a.Phase], phases[b.Phase]), later(a.Ready, b.Ready), cmp.Compare(cost(a), cost(b)),
	)
}

// death is where a process is killed that carries a decision out.
type death int

const (
	alive death = iota
	beforeCall
	afterCall
)

// do carries the first decision of a plan out, as a flow does.
func (w *world) do(p decide.Plan, dies death) {
	of, d := p.Decisions[0], w.declaration
	j := p.Journal
	switch {
	case of.Kind == stockpool.KindCreate:
		j = j.RecordLoss(d, w.now)
		w.keep(j.BeginCreate(cmp.Or(j.Opened, w.name("token"))))
		if dies == beforeCall {
			return
		}
		w.live = d.InitialDeployment(w.journal.Opened, of.Replicas)
		w.live.UID = types.UID(w.name("uid"))
		if dies == afterCall {
			return
		}
		w.keep(w.journal.RecordOwner(string(w.live.UID), stockpool.Container))
	case of.Kind == stockpool.KindOwn:
		w.keep(j.RecordOwner(string(w.live.UID), w.live.Spec.Template.Spec.Containers[0].Name))
	case of.Kind == stockpool.KindSpare:
		for n := range w.pods {
			for _, name := range of.Spared {
				if w.pods[n].Name == name {
					w.pods[n].DeletionCost = stockpool.SpareCost
				}
			}
			for _, name := range of.Released {
				if w.pods[n].Name == name {
					w.pods[n].DeletionCost = ""
				}
			}
		}
	case of.Kind == stockpool.KindPause:
		w.keep(j.Begin(d, of, w.live, w.now))
		if dies == beforeCall {
			return
		}
		was := w.live
		w.live = w.live.DeepCopy()
		w.live.Spec.Replicas = new(int32(of.Replicas)) //nolint:gosec // few
		w.live.ManagedFields = append(w.live.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: stockpool.FieldManager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "scale", Time: &metav1.Time{Time: w.now},
		})
		w.control()
		if dies == afterCall {
			return
		}
		w.keep(w.journal.RecordScale(of, was))
	case of.Applies():
		w.keep(j.Begin(d, of, w.live, w.now))
		if dies == beforeCall {
			return
		}
		w.live = w.applied(of.Replicas)
		w.control()
		if dies == afterCall {
			return
		}
		w.keep(w.journal.RecordApply(d, of, w.live, w.now))
	}
	w.control()
}

func (w *world) keep(j stockpool.Journal) {
	for _, e := range j.Unreported {
		w.history[e.ID] = e
	}
	w.journal = j
}

func (w *world) pod(name string) *stockpool.Pod {
	for n := range w.pods {
		if w.pods[n].Name == name {
			return &w.pods[n]
		}
	}
	return nil
}

// settle carries decisions out until there are none, and returns their number.
func (w *world) settle() int {
	for n := range 12 {
		p := w.decide()
		w.keep(p.Journal)
		if len(p.Decisions) == 0 {
			return n
		}
		w.do(p, alive)
	}
	return -1
}

func (w *world) reported(kind history.Kind) (n int) {
	for _, e := range w.history {
		if e.Kind == kind {
			n++
		}
	}
	return n
}
