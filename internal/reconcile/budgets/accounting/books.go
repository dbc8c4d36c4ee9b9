package accounting

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// listEvery is the longest time between lists of all pods, even if the replays of the watch are complete.
// Otherwise a missed event would have permanent effects.
const listEvery = time.Hour

// Accountant keeps the ledgers of clusters in a store; without one there are none.
type Accountant struct {
	Repository record.Repository
	Clock      func() time.Time // this machine's
}

// Books are the ledger as it stands after an observation of the cluster, and the
// observation.
type Books struct {
	Observation gpu.Observation
	Rules       gpu.Rules
	Warnings    reason.Reasons
	documents   *ledgerDocuments
	cluster     Cluster
	recorder    recorder
	local       time.Time // this machine's clock at the observation
	doubts      doubts
	claims      *meter.Claims
	// byNamespace says that some budget selects by the labels of namespaces.
	byNamespace bool
}

// Now is the cluster's clock at the observation.
func (b *Books) Now() time.Time { return b.Observation.At }

// Ledger is the ledger as it is known by now.
func (b *Books) Ledger() *ledger.Ledger { return b.documents.ledger }

// Save writes what changed of the ledger.
func (a Accountant) Save(ctx context.Context, b *Books) error { return a.saveLedger(ctx, b.documents) }

// Account observes a cluster, and merges what it shows into the ledger, in
// memory: who only asks leaves it at that.
func (a Accountant) Account(ctx context.Context, c Cluster, uid string, budgets []budget.Declaration) (*Books, error) {
	documents, err := a.openLedger(ctx, uid)
	if err != nil {
		return nil, err
	}
	rules := rulesFor(budgets)
	h := documents.ledger.Header
	observation, err := c.Observe(ctx, gpu.ObserveOptions{
		From: h.ResourceVersion, Rules: rules, Nodes: recordedNodes(documents.ledger),
		List: a.Clock().Sub(h.LastListed.Time()) > listEvery || h.Resources != resourcesOf(rules), Relist: documents.wantsList,
	})
	if err != nil {
		return nil, err
	}
	if observation.ClusterUID != uid {
		return nil, fmt.Errorf("the cluster's uid was %s a moment ago and is %s now: nothing was written", uid, observation.ClusterUID)
	}
	local := a.Clock()
	if err := believeClock(observation.At, local, h.LastRun.Time()); err != nil {
		return nil, err
	}
	pools, err := a.instanceRecords(ctx)
	if err != nil {
		return nil, err
	}
	b := &Books{
		documents: documents, cluster: c, Observation: observation, Rules: rules, local: local,
		recorder: recorder{at: ledger.TimeOf(observation.At), namespaces: observation.Namespaces, pools: pools.names},
		Warnings: observed(observation.Warnings), byNamespace: selectByNamespace(budgets),
	}
	if apart := local.Sub(observation.At); apart.Abs() > clocksWarned {
		b.Warnings = append(b.Warnings, clockWarning(apart))
	}
	for _, problem := range documents.problems {
		b.Warnings = append(b.Warnings, reason.DocumentFailed(reason.Failure(problem)))
	}
	if err := b.take(ctx, pools); err != nil {
		return nil, err
	}
	return b, nil
}

// Recorded returns the ledger as the last run left it. The cluster is not observed.
func (a Accountant) Recorded(ctx context.Context, uid string) (*Books, error) {
	documents, err := a.openLedger(ctx, uid)
	if err != nil {
		return nil, err
	}
	last := documents.ledger.Header.LastRun
	if last == 0 {
		return nil, fmt.Errorf("past usage is unknown: the first gpupool reconcile begins the ledger in the store %s", a.Repository.Store)
	}
	b := &Books{documents: documents, Observation: gpu.Observation{ClusterUID: uid, At: last.Time()}, local: a.Clock()}
	for _, problem := range documents.problems {
		b.Warnings = append(b.Warnings, reason.DocumentFailed(reason.Failure(problem)))
	}
	return b, nil
}

// overdue is how long after its deletion timestamp each run observes a pod.
const overdue = 30 * time.Second

// wantsList reports whether a pod may have ended of which no watch tells: its
// deletion is overdue, or its node is silent or gone. So it is where more is known
// of its node than when it was seen, which changes nothing about the pod either.
func (d *ledgerDocuments) wantsList(at time.Time, nodes []gpu.Node) bool {
	ready := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		ready[n.Name] = !n.NotReady
	}
	more, unknown := nodeChanges(d.ledger, nodes)
	for r := range d.ledger.All() {
		if !r.Open() {
			continue
		}
		if r.Deletion != 0 && at.Sub(r.Deletion.Time()) > overdue || !ready[r.Place.Node] || more[r.Place.Node] ||
			r.Allocation.Shown == 0 && unknown[r.Place.Node] {
			return true
		}
	}
	return false
}

// rulesFor returns the rules for observing the pods of these budgets: the defaults, and the resources that
// any of the budgets weighs.
func rulesFor(budgets []budget.Declaration) gpu.Rules {
	weighed := map[string]bool{}
	for _, d := range budgets {
		for resource := range d.ResourceWeights {
			weighed[resource] = true
		}
	}
	return gpu.Rules{Extra: slices.Sorted(maps.Keys(weighed))}
}

// resourcesOf are the resources of rules in one text.
func resourcesOf(r gpu.Rules) string { return strings.Join(r.Extra, ",") }

// take merges the observation into the ledger: what was seen, what the replay saw end,
// and what is gone without a word.
func (b *Books) take(ctx context.Context, pools instanceRecords) error {
	l, o := b.documents.ledger, b.Observation
	now, lastRun := ledger.TimeOf(o.At), l.Header.LastRun
	if lastRun > now {
		b.Warnings = append(b.Warnings, reason.ClockBack(reason.Instant{Time: o.At.UTC()}, reason.Instant{Time: lastRun.Time()}))
	}
	b.missHeader(now)
	present, ended := map[string]bool{}, map[string]bool{}
	for _, p := range o.Pods {
		present[p.UID] = true
		b.enter(p, false)
	}
	b.takeProblems()
	b.enterDeleted(o.Replay, present, ended)
	there := func(uid string) bool { return !ended[uid] }
	if err := b.closeVanished(ctx, there, pools, lastRun); err != nil {
		return err
	}
	if o.Listed {
		there = func(uid string) bool { return present[uid] }
		heldAt, err := b.unannounced(ctx, there, present, ended)
		if err != nil {
			return err
		}
		if err := b.closeVanished(ctx, there, pools, heldAt); err != nil {
			return err
		}
		b.unbind(there)
	}
	b.trimBindings()
	b.refine(pools)
	b.recordNodes()
	b.updateHeader(now)
	b.Warnings = append(b.Warnings, b.doubts.warnings()...)
	return nil
}

// enterDeleted records the last states of deleted pods. One that still held GPUs
// in it does not hold them now.
func (b *Books) enterDeleted(told gpu.Replay, present, ended map[string]bool) {
	b.recorder.former = told.Former
	b.missNamespaces(told)
	for _, p := range told.Ended {
		if !present[p.UID] {
			ended[p.UID] = true
			b.enter(p, p.End.Open())
			b.documents.ledger.Unbind(p.UID)
		}
	}
}

// missHeader notes that there are records and no header: when they were last seen
// to hold is not known, nor what else there was.
func (b *Books) missHeader(now ledger.Time) {
	l := b.documents.ledger
	if l.Header.LastRun != 0 || l.Len() == 0 {
		return
	}
	from, last := now, l.Header.KeptSince
	for r := range l.All() {
		if r.Open() {
			from = min(from, r.Start.At)
		} else {
			last = max(last, r.End.At)
		}
	}
	if from == now && last > 0 {
		from = last
	}
	l.AddGap(ledger.Gap{From: from, To: now, GPUs: b.Observation.Allocatable, Reason: "the ledger's header is lost, and with it the times of earlier runs"})
}

// updateHeader updates the header with this observation.
func (b *Books) updateHeader(now ledger.Time) {
	h, o := &b.documents.ledger.Header, b.Observation
	if h.Began == 0 {
		h.Began = now
	}
	if h.LastRun != 0 && !o.Replay.Complete && now > h.LastRun {
		b.documents.ledger.AddGap(ledger.Gap{From: h.LastRun, To: now, GPUs: o.Allocatable, Reason: o.Replay.Reason})
	}
	h.LastRun = max(h.LastRun, now)
	h.ResourceVersion = o.ResourceVersion
	h.Resources = resourcesOf(b.Rules)
	if o.Listed {
		h.LastListed = max(h.LastListed, now)
	}
}

func podName(p gpu.Pod) reason.Word { return reason.Word(p.Namespace + "/" + p.Name) }

// observed returns the warnings of an observation.
func observed(texts []string) (list reason.Reasons) {
	for _, text := range texts {
		list = append(list, reason.Observed(reason.NewForeign(text)))
	}
	return list
}

// enter merges what was seen of a pod into the ledger. What is past says nothing of
// now.
func (b *Books) enter(p gpu.Pod, past bool) {
	r, held := b.recorder.record(p)
	if !held {
		if r, held = b.endedRecord(p); !held {
			b.bind(p)
			return
		}
	}
	if err := b.confirm(p); err != nil {
		b.doubts.add(p.Namespace, reason.RecordError(reason.Failure(err)))
	}
	if held := b.documents.ledger.Contradicts(&r); held != 0 {
		b.doubts.add(p.Namespace, reason.EndDisputed(podName(p), reason.Node(p.Node.Name),
			reason.Instant{Time: r.End.At.Time()}, reason.Instant{Time: held.Time()}))
	}
	if p.Refused != 0 {
		if _, there := b.documents.ledger.Get(p.UID); there {
			r.End = ledger.ExactEnd(p.Refused, ledger.StatusWritten) // its past is its own
		}
	}
	merge := b.documents.ledger.Observe
	if past {
		merge = b.documents.ledger.Merge
	}
	if err := merge(r); err != nil {
		b.doubts.add(p.Namespace, reason.RecordError(reason.Failure(err)))
	}
}

// confirm ends the time in which labels of a pod's node could lower the pod's recorded hours: the node
// registered long enough ago.
func (b *Books) confirm(p gpu.Pod) error {
	r, known := b.documents.ledger.Get(p.UID)
	if !known || r.Allocation.Shown != ledger.Provisional || p.Shown < ledger.Confirmed || b.recorder.at < p.Node.LabelsDue() {
		return nil
	}
	held := *r.Allocation
	held.Shown = ledger.Confirmed
	r.Allocation = &held
	return b.documents.ledger.Merge(r)
}

// endedRecord returns the known record of a pod that holds nothing any more, with the new facts.
func (b *Books) endedRecord(p gpu.Pod) (r ledger.Record, known bool) {
	r, known = b.documents.ledger.Get(p.UID)
	// The claims of an ended pod are gone, and with them what it held. Its record has that, and lacks only
	// the end.
	ended := !p.End.Open()
	// Its node turned out not to have the GPUs that it requested.
	none := known && p.Capped && p.Shown > r.Allocation.Shown
	if !known || !ended && !none {
		return r, false
	}
	r.Seen, r.Deletion, r.End = b.recorder.at, p.Deletion, p.End
	if none {
		r.Allocation, r.AllocationSeen = &ledger.Allocation{Shown: p.Shown, Capped: true}, b.recorder.at
	}
	return r, true
}
