package schedule

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
)

func TestASeedAlwaysGivesTheSameSchedule(t *testing.T) {
	t.Parallel()
	if a, b := Of(7, 40), Of(7, 40); !reflect.DeepEqual(a, b) {
		t.Error("seed 7 gives two schedules")
	}
	if a, b := Of(7, 40), Of(8, 40); reflect.DeepEqual(a.Rounds, b.Rounds) {
		t.Error("seeds 7 and 8 give the same schedule")
	}
}

// Ten schedules of forty rounds have everything that there is, and each fault is
// one that the local CVM takes.
func TestSchedulesHaveEverything(t *testing.T) {
	t.Parallel()
	server, err := cvmsim.New(cvmsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for seed := range uint64(10) {
		for n, r := range Of(seed, 40).Rounds {
			if n == 0 && r.Operation != Apply {
				t.Errorf("seed %d begins with %s", seed, r.Operation)
			}
			for _, f := range r.Faults {
				if _, err := server.AddFault(f); err != nil {
					t.Errorf("seed %d, round %d: %v", seed, n, err)
				}
				seen["fault "+f.Kind] = true
			}
			if r.Terms.Minimum < 1 || r.Terms.Maximum < r.Terms.Minimum || r.Terms.Maximum == r.Terms.Minimum && r.Terms.Unavailable == 0 {
				t.Errorf("seed %d, round %d: a plan refuses %s", seed, n, r.Terms)
			}
			if max(r.Weather.ListingDelay, r.Weather.TagDelay) > Duration(time.Minute) {
				t.Errorf("seed %d, round %d: listings and tags are at most a minute late, not %v and %v", seed, n, r.Weather.ListingDelay, r.Weather.TagDelay)
			}
			for _, what := range []string{
				"operation " + string(r.Operation), "loss " + string(r.Loss), "remedy " + string(r.Remedy), "strategy " + r.Terms.Strategy,
			} {
				seen[what] = true
			}
			seen["stopping"], seen["protected"] = seen["stopping"] || r.Stopping > 0, seen["protected"] || r.Protected > 0
			for _, p := range append(r.Reconciles, r.Terraform) {
				if k := p.Kill; k != nil {
					when := map[bool]string{true: "after ", false: "before "}[k.After]
					seen["kill of "+string(k.Victim)], seen["kill "+when+k.Point] = true, true
				}
			}
		}
	}
	wanted := []string{
		"operation apply", "operation destroy", "loss journal", "loss store", "remedy reconcile", "remedy terraform", "remedy import",
		"strategy none", "strategy rolling", "strategy opportunistic", "stopping", "protected",
		"kill of both", "kill of terraform", "kill of provider", "kill before ",
	}
	for _, point := range slices.Concat(CloudPoints, StorePoints) {
		wanted = append(wanted, "kill before "+point, "kill after "+point)
	}
	for _, kind := range api.FaultKinds {
		wanted = append(wanted, "fault "+kind)
	}
	for _, what := range wanted {
		if !seen[what] {
			t.Errorf("no round has %s", what)
		}
	}
}

// A short schedule has a creation, a refresh and a destruction, too.
func TestShortSchedulesHaveEachOperation(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		images, destroys := map[int]bool{}, 0
		for _, r := range Of(seed, 12).Rounds {
			images[r.Terms.Image] = true
			if r.Operation == Destroy {
				destroys++
			}
		}
		if len(images) < 2 || destroys == 0 {
			t.Errorf("seed %d has %d images and %d destructions in twelve rounds", seed, len(images), destroys)
		}
	}
}

var (
	train = Pool{Region: "ap-singapore", Name: "train", LaunchTimeout: 5 * time.Minute}
	noon  = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
)

func machine(id, state, uid string) cvmsim.Instance {
	return cvmsim.Instance{
		InstanceID: id, State: state, UID: uid, Pool: "train", Region: "ap-singapore", RestrictState: "NORMAL", CreatedAt: noon,
		Tags: map[string]string{"gpupool/uid": uid},
	}
}

func TestHeldAndCapacity(t *testing.T) {
	t.Parallel()
	restricted := machine("e", "RUNNING", "u")
	restricted.RestrictState = "EXPIRED"
	elsewhere := machine("f", "RUNNING", "u")
	elsewhere.Region = "ap-guangzhou"
	own := train.Machines([]cvmsim.Instance{
		machine("a", "RUNNING", "u"), machine("b", "PENDING", "u"), machine("c", "TERMINATING", "u"), machine("d", "LAUNCH_FAILED", "u"), restricted, elsewhere,
		machine("g", "STOPPING", "u"),
	})
	if held := Held(own); held != 4 {
		t.Errorf("held is %d, want 4", held)
	}
	for after, want := range map[time.Duration]int{time.Minute: 2, 5 * time.Minute: 1} {
		if capacity := train.Capacity(own, noon.Add(after)); capacity != want {
			t.Errorf("after %s the capacity is %d, want %d", after, capacity, want)
		}
	}
}

func TestLaunchesThatBreakSomething(t *testing.T) {
	t.Parallel()
	three := []cvmsim.Instance{machine("a", "RUNNING", "u"), machine("b", "PENDING", "u"), machine("c", "PENDING", "u")}
	call := cvmsim.Call{Action: "RunInstances", ClientToken: "token", InstanceIDs: []string{"c"}}
	for name, c := range map[string]struct {
		machines  []cvmsim.Instance
		terms     Terms
		destroyed []string
		want      string // empty: nothing is broken
	}{
		"in order":            {three, Terms{Minimum: 3, Maximum: 3}, nil, ""},
		"ahead of a refresh":  {three, Terms{Minimum: 2, Maximum: 3, Strategy: Rolling, Surge: 1}, nil, ""},
		"above maximum":       {three, Terms{Minimum: 3, Maximum: 2}, nil, "above maximum"},
		"one too many":        {three, Terms{Minimum: 2, Maximum: 4}, nil, "more than the shortfall"},
		"surge of another":    {three, Terms{Minimum: 2, Maximum: 4, Strategy: Opportunistic, Surge: 1}, nil, "more than the shortfall"},
		"of a destroyed pool": {three, Terms{Minimum: 3, Maximum: 3}, []string{"u"}, "reported as destroyed"},
		"two uids":            {append(slices.Clone(three[:2]), machine("c", "PENDING", "v")), Terms{Minimum: 3, Maximum: 3}, nil, "two pools"},
		"the old one ends":    {append(slices.Clone(three[:2]), machine("d", "TERMINATING", "v")), Terms{Minimum: 3, Maximum: 3}, []string{"v"}, ""},
	} {
		broken := train.Broken(Launch{Call: call, Machines: c.machines, Now: noon, Terms: c.terms, Destroyed: c.destroyed})
		if c.want == "" && len(broken) > 0 || c.want != "" && (len(broken) != 1 || !strings.Contains(broken[0], c.want)) {
			t.Errorf("%s: %q", name, broken)
		}
	}
}

func TestTermsInForceWhileOneFollowsTheOther(t *testing.T) {
	t.Parallel()
	either := Terms{Minimum: 1, Maximum: 5, Strategy: None, Surge: 2}.Either(Terms{Minimum: 2, Maximum: 3, Strategy: Rolling, Surge: 1})
	if either.Minimum != 2 || either.Maximum != 5 || either.surge() != 1 {
		t.Errorf("either is %s", either)
	}
}

func TestCallsForLaunchesThatAreNotOpen(t *testing.T) {
	t.Parallel()
	if broken := Asked(cvmsim.Call{ClientToken: "b", Outcome: "ok"}, []string{"a", "b"}); len(broken) > 0 {
		t.Error(broken)
	}
	if broken := Asked(cvmsim.Call{ClientToken: "c", Outcome: "InvalidParameter.ParameterConflict"}, []string{"a"}); len(broken) != 2 {
		t.Error(broken)
	}
}

func TestForeignMachines(t *testing.T) {
	t.Parallel()
	foreign := []cvmsim.Instance{machine("x", "RUNNING", "other")}
	if broken := Touched([]cvmsim.Call{{Action: "DescribeInstances", InstanceIDs: []string{"x"}}, {Action: "TerminateInstances", InstanceIDs: []string{"y"}}},
		foreign, foreign); len(broken) > 0 {
		t.Error(broken)
	}
	ended, untagged := machine("x", "TERMINATING", "other"), machine("x", "RUNNING", "")
	for _, is := range []cvmsim.Instance{ended, untagged, machine("y", "RUNNING", "other")} {
		if broken := Touched(nil, []cvmsim.Instance{is}, foreign); len(broken) != 1 {
			t.Errorf("%s: %q", is.State, broken)
		}
	}
	if broken := Touched([]cvmsim.Call{{Action: "TerminateInstances", InstanceIDs: []string{"x"}}}, foreign, foreign); len(broken) != 1 {
		t.Error(broken)
	}
}

func TestScheduleLeft(t *testing.T) {
	t.Parallel()
	all := []cvmsim.Instance{machine("a", "TERMINATING", "u"), machine("b", "RUNNING", "v")}
	if left := Left("u", all); len(left) != 1 {
		t.Error(left)
	}
	if left := Left("w", all); len(left) != 0 {
		t.Error(left)
	}
}

func TestCountsThatAreMissing(t *testing.T) {
	t.Parallel()
	var c Counts
	for _, f := range c.fields() {
		*f.value = 1
	}
	if missing := c.Missing(); len(missing) > 0 {
		t.Error(missing)
	}
	if sum := c.Plus(c); sum.KillsInCalls != 2 || sum.Rounds != 2 {
		t.Error(sum)
	}
	c.KillsInCalls, c.Imports = 0, 0
	if missing := c.Missing(); len(missing) != 1 {
		t.Error(missing)
	}
}

func TestUnrecoveredPools(t *testing.T) {
	t.Parallel()
	two := []cvmsim.Instance{machine("a", "RUNNING", "u"), machine("b", "STOPPING", "u")}
	for want, terms := range map[int]Terms{0: {Minimum: 1, Maximum: 2}, 1: {Minimum: 1, Maximum: 1}, 2: {Minimum: 2, Maximum: 1}} {
		if broken := train.Unrecovered(terms, two, noon); len(broken) != want {
			t.Errorf("%s: %q", terms, broken)
		}
	}
}

func TestSchedulesAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	s := Of(3, 40)
	read, err := Read(s.JSON())
	if diff := cmp.Diff(s, read); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := Read([]byte(`{"rounds": [{"terraforms": {}}]}`)); err == nil {
		t.Error("an unknown field is no error")
	}
	if lines := strings.Count(s.String(), "\n"); lines != 40 {
		t.Errorf("40 rounds are printed on %d lines", lines)
	}
}

// A schedule that fails as long as one process is killed and one fault is there shrinks to
// these, and the larger schedule is unchanged.
func TestShrinkKeepsWhatFails(t *testing.T) {
	t.Parallel()
	larger := Of(4, 20)
	before := string(larger.JSON())
	killed := func(s Schedule) (kills, faults int) {
		for _, r := range s.Rounds {
			for _, p := range append(slices.Clone(r.Reconciles), r.Terraform) {
				if p.Kill != nil {
					kills++
				}
			}
			faults += len(r.Faults)
		}
		return kills, faults
	}
	s := larger.Shrink(func(s Schedule) bool { kills, faults := killed(s); return kills > 0 && faults > 0 })
	if kills, faults := killed(s); kills != 1 || faults != 1 || len(s.Rounds) > 2 {
		t.Errorf("%d kills and %d faults are left in %d rounds", kills, faults, len(s.Rounds))
	}
	for _, r := range s.Rounds {
		if len(r.Reclaims)+len(r.Weather.Jumps)+r.Stopping+r.Protected > 0 || r.Loss != "" || r.Weather.TagDelay+r.Weather.ListingDelay > 0 {
			t.Errorf("something else is left: %s", r)
		}
	}
	if string(larger.JSON()) != before {
		t.Error("the larger schedule was changed")
	}
}
