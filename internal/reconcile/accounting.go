package reconcile

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// listEvery is how often all pods are listed at least, also where the replays of
// the watch are complete: what a watch never told of would else stay for ever.
const listEvery = time.Hour

// killLasts is how long the end of a pod may take after the Event that tells of
// its beginning: the grace period that pods have by default
// (DefaultTerminationGracePeriodSeconds in k8s.io/api/core/v1).
const killLasts = 30 * time.Second

// books are the ledger as it stands after a look at the cluster, and the look.
type books struct {
	*ledgerDocuments
	cluster     Cluster
	observation ClusterObservation
	recorder    recorder
	rules       gpu.Rules
	local       time.Time // this machine's clock at the look
	warnings    []string
	unclear     int // what about pods could not be understood
}

// now is the cluster's clock at the look.
func (b *books) now() time.Time { return b.observation.At }

// account looks at a cluster, and merges what it shows into the ledger, in
// memory: who only asks leaves it at that.
func (e *Engine) account(ctx context.Context, c Cluster, uid string, budgets []budget.Declaration) (*books, error) {
	documents, err := e.openLedger(ctx, uid)
	if err != nil {
		return nil, err
	}
	rules := rulesFor(budgets)
	h := documents.ledger.Header
	observation, err := c.Observe(ctx, ObserveOptions{
		From: h.ResourceVersion, Rules: rules,
		List: e.now().Sub(moment(h.LastListed)) > listEvery || h.Resources != resourcesOf(rules), Relist: documents.wantsList,
	})
	if err != nil {
		return nil, err
	}
	if observation.ClusterUID != uid {
		return nil, fmt.Errorf("the cluster's uid was %s a moment ago and is %s now: nothing was written", uid, observation.ClusterUID)
	}
	local := e.now()
	if err := believeClock(observation.At, local, moment(h.LastRun)); err != nil {
		return nil, err
	}
	pools, err := e.instanceRecords(ctx)
	if err != nil {
		return nil, err
	}
	b := &books{
		ledgerDocuments: documents, cluster: c, observation: observation, rules: rules, local: local,
		recorder: recorder{at: milli(observation.At), namespaces: observation.Namespaces, pools: pools.names},
		warnings: slices.Clone(observation.Warnings),
	}
	for _, problem := range documents.problems {
		b.warnings = append(b.warnings, problem.Error())
	}
	if err := b.take(ctx, pools); err != nil {
		return nil, err
	}
	return b, nil
}

// clocksApart is how far the cluster's clock may be from the machine's own, unless
// it goes on from where the last run read it.
const clocksApart = time.Hour

// believeClock refuses a time of the cluster that nothing confirms: what is
// written at a wrong one is wrong for good.
func believeClock(cluster, local, lastRun time.Time) error {
	if cluster.Sub(local).Abs() <= clocksApart || !lastRun.IsZero() && cluster.Sub(lastRun).Abs() <= clocksApart {
		return nil
	}
	last := "there was no run before"
	if !lastRun.IsZero() {
		last = "the last run read " + lastRun.UTC().Format(time.RFC3339) + " there"
	}
	return fmt.Errorf("the cluster's API server says that it is %s, this machine's clock reads %s, and %s: nothing was counted or written. Set the clock that is wrong, and run again",
		cluster.UTC().Format(time.RFC3339), local.UTC().Format(time.RFC3339), last)
}

// overdue is how long after its deletion timestamp a pod is looked at in each run.
const overdue = 30 * time.Second

// wantsList says whether a pod may have ended of which no watch tells: its
// deletion is overdue, or its node is silent or gone.
func (d *ledgerDocuments) wantsList(at time.Time, nodes []gpu.Node) bool {
	ready := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		ready[n.Name] = !n.NotReady
	}
	for r := range d.ledger.All() {
		if r.Open() && (r.Deletion != 0 && at.Sub(moment(r.Deletion)) > overdue || !ready[r.Place.Node]) {
			return true
		}
	}
	return false
}

// rulesFor are the rules by which pods are looked at for these budgets: the
// defaults, which are the same whatever a budget weighs, and the resources that
// any of them weighs on its own.
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

// take merges the look into the ledger: what was seen, what the replay saw end,
// and what is gone without a word.
func (b *books) take(ctx context.Context, pools instanceRecords) error {
	l, o := b.ledger, b.observation
	now, lastRun := milli(o.At), l.Header.LastRun
	if lastRun > now {
		b.warnings = append(b.warnings, fmt.Sprintf("the cluster's clock reads %s, and the last run read %s there: one of the two was wrong", o.At.UTC().Format(time.RFC3339), moment(lastRun).Format(time.RFC3339)))
	}
	b.missHeader(now)
	present, ended := map[string]bool{}, map[string]bool{}
	for _, s := range o.Pods {
		present[s.UID] = true
		b.observe(s)
	}
	b.bury(o.Replay.Ended, present, ended)
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
	}
	b.refine(pools)
	b.turn(now)
	if more := b.unclear - problemsAtMost; more > 0 {
		b.warnings = append(b.warnings, fmt.Sprintf("%d more doubts about pods", more))
	}
	return nil
}

// bury takes up pods that were deleted, as they last were. That one still held
// then says nothing of now.
func (b *books) bury(deleted []gpu.Sighting, present, ended map[string]bool) {
	for _, s := range deleted {
		if !present[s.UID] {
			ended[s.UID] = true
			b.enter(s, s.End.At.IsZero())
		}
	}
}

// unannounced looks after pods that a list lacks though a complete replay told of
// no deletion, and returns when they were certainly there. Those that were
// deleted between the replay and the list are told of by a further replay. Others
// were never deleted in this history: the cluster was restored from a backup.
func (b *books) unannounced(ctx context.Context, there func(string) bool, present, ended map[string]bool) (ledger.Time, error) {
	l, o := b.ledger, b.observation
	h := l.Header
	if !o.Replay.Complete || len(l.Vanished(there)) == 0 {
		return h.LastRun, nil
	}
	further, err := b.cluster.Observe(ctx, ObserveOptions{From: o.ResourceVersion, Rules: b.rules})
	if err != nil {
		return 0, err
	}
	b.bury(further.Replay.Ended, present, ended)
	missing := l.Vanished(func(uid string) bool { return there(uid) || ended[uid] })
	if !further.Replay.Complete || len(missing) == 0 || h.LastListed == 0 {
		return h.LastRun, nil
	}
	l.AddGap(ledger.Gap{
		From: h.LastListed, To: milli(o.At), GPUs: o.Allocatable,
		Reason: "pods are gone whose deletion the server's history does not have: the cluster was restored from a backup",
	})
	return min(h.LastListed, h.LastRun), nil
}

// closeVanished closes the records of pods that are gone without an end of their
// own.
func (b *books) closeVanished(ctx context.Context, there func(string) bool, pools instanceRecords, heldAt ledger.Time) error {
	events, err := b.endsByEvents(ctx, b.ledger.Vanished(there), pools, heldAt)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		b.warnings = append(b.warnings, fmt.Sprintf("Events could not be asked when pods ended, and their ends are estimated: %v", err))
	}
	b.ledger.CloseVanished(there, func(r *ledger.Record) ledger.End {
		if end := pools.end(r, heldAt); !end.Open() {
			return end
		}
		if at, known := events[r.UID]; known {
			until := at.Add(killLasts)
			if due := moment(r.Deletion); due.After(at) {
				until = due // which includes the grace period
			}
			return ledger.End{Earliest: milli(at), At: milli(until), Source: ledger.Event}
		}
		return ledger.End{}
	}, heldAt, milli(b.now()))
	return nil
}

// refine puts what the pools learned since in the place of estimates.
func (b *books) refine(pools instanceRecords) {
	if len(pools.ended)+len(pools.noticed) == 0 {
		return
	}
	var refined []ledger.Record
	for r := range b.ledger.All() {
		if r.End.Source != ledger.Estimated || !r.End.Estimated() {
			continue
		}
		end := pools.end(r, r.End.Earliest)
		if end.At < r.End.Earliest || end.At >= r.End.At {
			continue
		}
		end.Earliest = max(end.Earliest, r.End.Earliest)
		r.End = end
		refined = append(refined, *r)
	}
	for _, r := range refined {
		if err := b.ledger.Merge(r); err != nil {
			b.warn(err.Error())
		}
	}
}

// missHeader notes that there are records and no header: when they were last seen
// to hold is not known, nor what else there was.
func (b *books) missHeader(now ledger.Time) {
	l := b.ledger
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
	l.AddGap(ledger.Gap{From: from, To: now, GPUs: b.observation.Allocatable, Reason: "the ledger's header is lost, and with it when there were runs"})
}

// turn brings the header up to this look.
func (b *books) turn(now ledger.Time) {
	h, o := &b.ledger.Header, b.observation
	if h.Began == 0 {
		h.Began = now
	}
	if h.LastRun != 0 && !o.Replay.Complete && now > h.LastRun {
		b.ledger.AddGap(ledger.Gap{From: h.LastRun, To: now, GPUs: o.Allocatable, Reason: o.Replay.Reason})
	}
	h.LastRun = max(h.LastRun, now)
	h.ResourceVersion = o.ResourceVersion
	h.Resources = resourcesOf(b.rules)
	if o.Listed {
		h.LastListed = max(h.LastListed, now)
	}
}

// problemsAtMost is how many pods that could not be understood are told of.
const problemsAtMost = 5

func (b *books) observe(s gpu.Sighting) { b.enter(s, false) }

// enter merges a sighting into the ledger. One of the past says nothing of now.
func (b *books) enter(s gpu.Sighting, past bool) {
	for _, text := range s.Problems {
		b.warn(fmt.Sprintf("the pod %s/%s: %s", s.Namespace, s.Name, text))
	}
	r, held := b.recorder.record(s)
	if !held {
		// What a pod held by claim can't be read any more once it ended and its
		// claims are gone. Its record has it, and lacks the end alone.
		known, there := b.ledger.Get(s.UID)
		if !there || s.End.At.IsZero() {
			return
		}
		r = known
		r.Seen, r.Deletion = b.recorder.at, milli(s.Live.Deletion)
		r.End = ledger.End{Earliest: milli(s.End.At), At: milli(s.End.At), Source: ledger.Source(s.End.Source)}
	}
	merge := b.ledger.Observe
	if past {
		merge = b.ledger.Merge
	}
	if err := merge(r); err != nil {
		b.warn(err.Error())
	}
}

// warn keeps the first few warnings about pods, and counts the rest.
func (b *books) warn(text string) {
	if b.unclear++; b.unclear <= problemsAtMost {
		b.warnings = append(b.warnings, text)
	}
}

// endsByEvents asks the cluster's Events when pods ended of which nothing better
// is known.
func (b *books) endsByEvents(ctx context.Context, vanished []ledger.Record, pools instanceRecords, heldAt ledger.Time) (map[string]time.Time, error) {
	var refs []PodRef
	for _, r := range vanished {
		if pools.end(&r, heldAt).Open() {
			refs = append(refs, PodRef{Namespace: r.Set.Namespace, Name: r.Name, UID: r.UID})
		}
	}
	if len(refs) == 0 {
		return nil, nil
	}
	return b.cluster.PodEvents(ctx, refs)
}

// prune forgets what no budget's window reaches back to. Where one's window can't
// be told, everything stays. Of the cluster's clock and this machine's, the one
// that is behind counts: what is forgotten doesn't come back.
func (b *books) prune(budgets []budget.Declaration) {
	now := b.now()
	if b.local.Before(now) {
		now = b.local
	}
	keep := now
	for _, d := range budgets {
		from, err := keptSince(d, now)
		if err != nil {
			return
		}
		if from.Before(keep) {
			keep = from
		}
	}
	b.ledger.Prune(milli(keep))
}

// keptSince is up to where a budget needs what ended: by the length of its
// window, its grace and its longest gap before now.
func keptSince(d budget.Declaration, now time.Time) (time.Time, error) {
	w, err := d.WindowAt(now)
	if err != nil {
		return now, err
	}
	from := now.Add(w.Start.Sub(w.End))
	for _, text := range []string{d.Enforce.GracePeriod, d.Enforce.MaxGap} {
		length, err := time.ParseDuration(text)
		if err != nil {
			return now, err
		}
		from = from.Add(-length)
	}
	return from, nil
}

// live are the pods of a fresh look that hold GPUs, as one budget sees them.
func (b *books) live(ctx context.Context, d budget.Declaration) ([]budget.Pod, error) {
	sightings, err := b.cluster.LivePods(ctx, d.Selector, b.rules)
	if err != nil {
		return nil, err
	}
	meter, err := d.Meter(b.now())
	if err != nil {
		return nil, err
	}
	var pods []budget.Pod
	for _, s := range sightings {
		p, holds := b.recorder.pod(s)
		if !holds {
			continue
		}
		if r, known := b.ledger.Get(s.UID); known {
			p.Charged, p.MilliGPUs = r.Set, 0
			if usage, counted := meter.Pod(&r); counted {
				p.MilliGPUs = burned(usage.GPUs)
			}
		} else if r, bound := b.recorder.record(s); bound {
			p.MilliGPUs = burned(meter.GPUs(&r))
		}
		pods = append(pods, p)
	}
	return pods, nil
}

// burned is a number of GPUs in thousandths, and none only where it is none: the
// least of a GPU uses a budget up as well.
func burned(gpus *big.Rat) int64 {
	if gpus.Sign() <= 0 {
		return 0
	}
	return max(1, milliOf(gpus))
}
