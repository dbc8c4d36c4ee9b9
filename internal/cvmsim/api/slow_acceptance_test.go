package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// A call of 70 seconds by the world's clock: when its machines are created, and
// what time its answer tells.
func TestCallsThatTakeLong(t *testing.T) {
	t.Parallel()
	const long = 70 * time.Second
	for name, test := range map[string]struct {
		kind    string
		created time.Duration // after the begin of the call
		dated   time.Duration
		state   string // once it is answered
	}{
		"late effect, answered right after": {cvmsim.FaultSlowAcceptance, long, long, "PENDING"},
		"effect at once, answered late":     {cvmsim.FaultSlowAnswer, 0, long, "RUNNING"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := cvmsimtest.Start(t, cvmsimtest.Frozen, cvmsimtest.Slow) // slow: a launch takes a minute
			a := cvmsimtest.NewClient(t, sim)
			began := sim.Server.Now()
			if status, answer := cvmsimtest.Control(t, sim, http.MethodPost, "faults", `{"kind":"`+test.kind+`","delay":"70s"}`); status != http.StatusOK {
				t.Fatal(answer)
			}
			a.OK("cvm", "DescribeInstances", nil) // isn't what takes long
			if now := sim.Server.Now(); !now.Equal(began) {
				t.Errorf("a listing took %s", now.Sub(began))
			}
			resp, err := http.DefaultClient.Do(a.Signed("cvm", "RunInstances", cvmsimtest.Launch(nil)))
			if err != nil {
				t.Fatal(err)
			}
			checkFaulty(t, resp, test.kind, "", 0)
			if got, want := resp.Header.Get("Date"), began.Add(test.dated).UTC().Format(http.TimeFormat); got != want {
				t.Errorf("the answer is dated %s, want %s", got, want)
			}
			in := sim.Server.Instances()[0]
			if want := began.Add(test.created).UTC().Truncate(time.Second); !in.CreatedAt.Equal(want) || in.State != test.state {
				t.Errorf("%s since %s, want %s since %s", in.State, in.CreatedAt, test.state, want)
			}
			if now := sim.Server.Now(); !now.Equal(began.Add(long)) {
				t.Errorf("%s went by", now.Sub(began))
			}
			a.OK("cvm", "RunInstances", cvmsimtest.Launch(nil)) // signed with the time of the base clock
		})
	}
}

// A launch that is accepted late is listed later still.
func TestSlowAcceptanceBeforeALateListing(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, cvmsimtest.Frozen, func(o *cvmsim.Options) { o.ListingDelay = 30 * time.Second })
	a := cvmsimtest.NewClient(t, sim)
	cvmsimtest.AddFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultSlowAcceptance, Delay: cvmsim.Duration(70 * time.Second)})
	id := a.Run(nil)[0]
	cvmsimtest.Step(t, sim, 30*time.Second-1)
	cvmsimtest.CheckListings(t, a, id, 0)
	cvmsimtest.Step(t, sim, 1)
	cvmsimtest.CheckListings(t, a, id, 1)
}

// Events that fall due during a call happen before it takes effect.
func TestSlowAcceptanceLetsTheWorldGoOn(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, cvmsimtest.Frozen, cvmsimtest.Slow)
	a := cvmsimtest.NewClient(t, sim)
	id := a.Run(nil)[0]
	a.Refused("UnsupportedOperation.InstanceStatePending", "cvm", "TerminateInstances", object{"InstanceIds": []string{id}})
	cvmsimtest.AddFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultSlowAcceptance, Action: "*"}) // two minutes
	a.OK("cvm", "TerminateInstances", object{"InstanceIds": []string{id}})
}

// The step of the clock is kept like any other.
func TestSlowAcceptanceSurvives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep := func(dir string) *cvmsimtest.Sim {
		return cvmsimtest.Start(t, cvmsimtest.Slow, func(o *cvmsim.Options) { o.StateDir = dir })
	}
	before := keep(dir)
	cvmsimtest.AddFault(t, before, cvmsim.Fault{Kind: cvmsim.FaultSlowAcceptance, Delay: cvmsim.Duration(24 * time.Hour)})
	cvmsimtest.NewClient(t, before).Run(nil)
	if ahead := time.Until(keep(cvmsimtest.CopyOf(t, dir)).Server.Now()); ahead < 23*time.Hour {
		t.Errorf("the clock is ahead by %s", ahead)
	}
}
