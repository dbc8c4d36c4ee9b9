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
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// destruction is a terraform destroy while calls fail.
type destruction struct {
	fault cvmsim.Fault
	// open is how a launch was slow in the middle of which an apply was killed, so that
	// it stands open; empty where none does. What it made is listed a minute late.
	open string
	// lasts says that the fault never ends, or is one that repeating doesn't help
	// against: the first attempt may fail, and must not say complete.
	lasts bool
}

const held = cvmsim.Duration(400 * time.Millisecond)

var destructions = []destruction{
	// This one once said complete, and left two machines running.
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
	{fault: cvmsim.Fault{Kind: cvmsim.FaultError, Code: "UnauthorizedOperation", Action: "RunInstances", Count: 1}, open: cvmsim.FaultTimeout},
	{fault: cvmsim.Fault{Kind: cvmsim.FaultBadJSON, Action: "RunInstances", Count: 2}, open: cvmsim.FaultSlow},
}

// TestDestroysUnderFaults destroys pools of two machines by the real terraform
// destroy -refresh=false. It must never say complete while a machine of the pool is
// there; a fault that ends in time is outlived by the first attempt; and a second
// one, without faults, always leaves nothing but a tombstone.
func TestDestroysUnderFaults(t *testing.T) {
	t.Parallel()
	programs := programsOf(t)
	problems := make([][]string, len(destructions))
	var group sync.WaitGroup // they wait most of the time, so all go beside each other
	for n, d := range destructions {
		dir := t.TempDir()
		group.Go(func() {
			var err error
			if problems[n], err = d.play(t.Context(), dir, programs); err != nil {
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

// play plays a destruction in a world of its own, and says what is wrong.
func (d destruction) play(ctx context.Context, dir string, programs Programs) (problems []string, err error) {
	w, err := NewWorld(dir, programs)
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
	terms := schedule.Terms{Minimum: 2, Maximum: 4, Strategy: schedule.None, Surge: 1}
	if err := w.raise(ctx, terms); err != nil {
		return problems, err
	}
	if d.open != "" {
		if err := w.leaveOpen(ctx, terms, d.open); err != nil {
			return problems, err
		}
	}
	if err := w.server.Configure(cvmsim.Settings{TerminateDelay: ptr(cvmsim.Duration(time.Minute))}); err != nil { // a second of ours
		return problems, err
	}
	if d.open != "" { // the state is older than what was recorded
		if o, err := w.run(ctx, nil, w.programs.Terraform, "apply", "-refresh-only", "-auto-approve", "-input=false", "-no-color"); err != nil || o.code != 0 {
			return problems, fmt.Errorf("the state is not refreshed: %w", errors.Join(err, errors.New(o.text)))
		}
	}
	uid, before := w.state(), w.Counts().Faults
	if _, err := w.server.AddFault(d.fault); err != nil {
		return problems, err
	}
	// Where a launch is open the clock stands until it is asked for again, so that no
	// listing shows its machines before, however slow this computer is.
	defer w.forward(ctx, time.Minute, func() bool { return d.open == "" || w.Counts().Faults > before })()
	first, err := w.destroy(ctx, nil, "-refresh=false")
	if err != nil {
		return problems, err
	}
	if !d.lasts && first.code != 0 {
		say("the fault ended in time, and the destroy failed")
	}
	if w.Counts().Faults == before {
		say("the fault never hit")
	}
	w.server.ClearFaults()
	if first.code != 0 {
		if second, err := w.destroy(ctx, nil, "-refresh=false"); err != nil || second.code != 0 {
			say("the destroy without faults failed: %v", err)
		}
	}
	w.expectNothing(say, uid)
	return problems, nil
}

// raise has a pool of two machines.
func (w *World) raise(ctx context.Context, terms schedule.Terms) error {
	if err := w.configure(terms); err != nil {
		return err
	}
	defer w.forward(ctx, time.Minute, nil)()
	if o, err := w.apply(ctx, terms, nil); err != nil || o.code != 0 || len(w.machines()) != 2 {
		return fmt.Errorf("the pool has %d machines: %w", len(w.machines()), errors.Join(err, errors.New(o.text)))
	}
	return nil
}

// leaveOpen kills an apply in the middle of its launch, so that the launch is open.
func (w *World) leaveOpen(ctx context.Context, terms schedule.Terms, slow string) error {
	terms.Minimum = 3
	if err := w.configure(terms); err != nil {
		return err
	}
	if err := w.server.Configure(cvmsim.Settings{ListingDelay: ptr(cvmsim.Duration(time.Minute))}); err != nil {
		return err
	}
	if _, err := w.server.AddFault(cvmsim.Fault{Kind: slow, Action: "RunInstances", Delay: cvmsim.Duration(10 * time.Second)}); err != nil {
		return err
	}
	o, err := w.apply(ctx, terms, &schedule.Kill{Victim: schedule.Both, Action: "RunInstances", Nth: 1, After: 50 * time.Millisecond})
	if intents := w.journal().Pending; err != nil || !o.killed || len(intents) != 1 {
		return fmt.Errorf("the journal has %d launches open: %w", len(intents), errors.Join(err, errors.New(o.text)))
	}
	return nil
}

// expectNothing checks that cloud, store and state hold nothing of a pool but its
// tombstone.
func (w *World) expectNothing(say func(format string, args ...any), uid string) {
	if machines := w.machines(); len(machines) > 0 {
		say("the cloud has machines: %v", schedule.Left(uid, machines))
	}
	if inState := w.state(); inState != "" {
		say("Terraform's state has %s", inState)
	}
	s, err := directory.Open(w.storePath(), directory.Options{})
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
	for _, text := range schedule.Touched(w.server.Calls(), w.server.Instances(), w.foreign) {
		say("%s", text)
	}
}
