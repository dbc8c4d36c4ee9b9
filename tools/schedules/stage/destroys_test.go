//go:build unix

package stage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// destruction is a terraform destroy while calls fail.
type destruction struct {
	fault cvmsim.Fault
	// open is whether an apply was killed before its launch took effect or after, so that
	// the launch is open; empty if none is. What it made is listed a minute late.
	open string
	// lasts means that the fault never ends, or that repetition does not help. The first
	// attempt may fail, and must not report completion.
	lasts bool
}

const (
	held   = cvmsim.Duration(400 * time.Millisecond)
	before = "before"
	after  = "after"
)

var destructions = []destruction{
	// This one once reported completion, and left two machines running.
	{fault: cvmsim.Fault{Kind: cvmsim.FaultHTTP502, Action: "DescribeInstances", After: 1, Count: 6}},
	{fault: cvmsim.Fault{Kind: cvmsim.FaultThrottle, Action: "DescribeInstances", Count: 5}},
	{fault: cvmsim.Fault{Kind: cvmsim.FaultResetAfter, Action: "DescribeInstances", After: 2, Count: 3}},
	{fault: cvmsim.Fault{Kind: cvmsim.FaultTimeoutAfter, Action: "TerminateInstances", Count: 2, Delay: held}},
	{fault: cvmsim.Fault{Kind: cvmsim.FaultBadJSON, Action: "TerminateInstances", Count: 4}},
	{fault: cvmsim.Fault{Kind: cvmsim.FaultHTTP502, Action: "TerminateInstances", Count: -1}, lasts: true},
	{fault: cvmsim.Fault{Kind: cvmsim.FaultResetBefore, Action: "GetCallerIdentity", Count: 6}},
	{fault: cvmsim.Fault{Kind: cvmsim.FaultTimeout, Action: "GetCallerIdentity", Count: 3, Delay: held}},
	{fault: cvmsim.Fault{Kind: cvmsim.FaultError, Code: "UnauthorizedOperation", Action: "DescribeInstances", After: 3, Count: 1}, lasts: true},
	{fault: cvmsim.Fault{Kind: cvmsim.FaultError, Code: "InternalError", Action: "DescribeZoneInstanceConfigInfos", Count: 6}},
	{fault: cvmsim.Fault{Kind: cvmsim.FaultError, Code: "UnauthorizedOperation", Action: "RunInstances", Count: 1}, open: before},
	{fault: cvmsim.Fault{Kind: cvmsim.FaultBadJSON, Action: "RunInstances", Count: 2}, open: after},
}

// TestDestroysUnderFaults destroys pools of two machines by the real terraform destroy
// -refresh=false. It must never report completion while a machine of the pool exists. The first
// attempt outlasts a fault that ends in time. A second one, without faults, leaves only a
// tombstone.
func TestDestroysUnderFaults(t *testing.T) {
	t.Parallel()
	binaries := binariesOf(t)
	problems := make([][]string, len(destructions))
	var group sync.WaitGroup // they wait most of the time, so all run in parallel
	for n, d := range destructions {
		dir := t.TempDir()
		group.Go(func() {
			var err error
			if problems[n], err = d.play(t.Context(), dir, binaries); err != nil {
				problems[n] = append(problems[n], err.Error())
			}
		})
	}
	group.Wait()
	for n, d := range destructions {
		for _, text := range problems[n] {
			t.Errorf("%s %s of %s after %d, %d times: %s", d.fault.Kind, d.fault.Code, d.fault.Action, d.fault.After, d.fault.Count, text)
		}
	}
}

// play plays a destruction in a world of its own, and returns what is wrong.
func (d destruction) play(ctx context.Context, dir string, binaries Binaries) (problems []string, err error) {
	w, err := binaries.inWorld(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, w.Close())
		if problems = append(problems, w.log.breaches()...); len(problems) > 0 {
			problems = append(problems, w.Log())
		}
	}()
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	w.terms = schedule.Terms{Minimum: 2, Maximum: 4, Strategy: schedule.None, Surge: 1}
	if err := w.raise(ctx); err != nil {
		return problems, err
	}
	if d.open != "" {
		if err := w.leaveOpen(ctx, d.open); err != nil {
			return problems, err
		}
	}
	if err := w.cloud.Configure(cvmsim.Settings{TerminateDelay: new(cvmsim.Duration(time.Minute))}); err != nil { // a second of ours
		return problems, err
	}
	if d.open != "" { // the state is older than what was recorded
		if e, err := w.run(ctx, Command{Verb: Refresh}, schedule.Process{}); err != nil || e.Code != 0 {
			return problems, fmt.Errorf("the state is not refreshed: %w", errors.Join(err, errors.New(e.Text)))
		}
	}
	uid, hits := w.programs.State(), w.Counts().Faults
	if _, err := w.cloud.AddFault(d.fault); err != nil {
		return problems, err
	}
	// With an open launch, the clock stands until the launch is repeated. So no listing has its
	// machines before, however slow this computer is.
	defer w.cloud.forward(ctx, time.Minute, func() bool { return d.open == "" || w.Counts().Faults > hits })()
	first, err := w.destroy(ctx, schedule.Process{}, true)
	if err != nil {
		return problems, err
	}
	if !d.lasts && first.Code != 0 {
		say("the fault ended in time, and the destroy failed")
	}
	if w.Counts().Faults == hits {
		say("the fault never hit")
	}
	w.cloud.ClearFaults()
	if first.Code != 0 {
		if second, err := w.destroy(ctx, schedule.Process{}, true); err != nil || second.Code != 0 {
			say("the destroy without faults failed: %v", err)
		}
	}
	w.expectNothing(say, uid)
	return problems, nil
}

func (w *World) raise(ctx context.Context) error {
	defer w.cloud.forward(ctx, time.Minute, nil)()
	if e, err := w.apply(ctx, schedule.Process{}); err != nil || e.Code != 0 || len(w.cloud.machines()) != 2 {
		return fmt.Errorf("the pool has %d machines: %w", len(w.cloud.machines()), errors.Join(err, errors.New(e.Text)))
	}
	return nil
}

// leaveOpen kills an apply in the middle of its launch, so that the launch is open.
func (w *World) leaveOpen(ctx context.Context, open string) error {
	w.terms.Minimum = 3
	if err := w.cloud.Configure(cvmsim.Settings{ListingDelay: new(cvmsim.Duration(time.Minute))}); err != nil {
		return err
	}
	e, err := w.apply(ctx, schedule.Process{Kill: &schedule.Kill{Victim: schedule.Both, Point: "RunInstances", Nth: 1, After: open == after}})
	if intents := w.records.journal().Pending; err != nil || !e.killed || len(intents) != 1 {
		return fmt.Errorf("the journal has %d launches open: %w", len(intents), errors.Join(err, errors.New(e.Text)))
	}
	return nil
}

// expectNothing checks that cloud, store and state hold nothing of a pool but its
// tombstone.
func (w *World) expectNothing(say func(format string, args ...any), uid string) {
	if machines := w.cloud.machines(); len(machines) > 0 {
		say("the cloud has machines: %v", schedule.Left(uid, machines))
	}
	if inState := w.programs.State(); inState != "" {
		say("Terraform's state has %s", inState)
	}
	s, err := w.programs.Store()
	if err != nil {
		say("%v", err)
		return
	}
	for kind, want := range map[store.Kind]int{store.SpotPools: 0, store.Journals: 0, store.Tombstones: 1} {
		docs, err := s.List(context.Background(), kind)
		if err != nil || len(docs) != want || want == 1 && docs[0].Key.Name != uid {
			say("the store has %d documents of the kind %s, want %d: %v", len(docs), kind, want, err)
		}
	}
	for _, text := range schedule.Touched(w.cloud.Calls(), w.cloud.Instances(), w.cloud.foreign) {
		say("%s", text)
	}
}
