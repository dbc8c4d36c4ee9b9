package budget_test

import (
	"strings"
	"testing"
	"time"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// apply plans and applies a change, and returns what the plan said.
func apply(t *testing.T, s *providertest.Server, o *providertest.Object, config providertest.Values) (*providertest.Object, providertest.Diagnostics) {
	t.Helper()
	p := s.Plan(o, config)
	o, diags := s.Apply(p)
	if len(diags) > 0 {
		t.Fatalf("applying: %s", diags)
	}
	return o, p.Diagnostics
}

// A plan of a lower limit reports the usage, and when pods may be evicted.
func TestPlanWarnsOfALowerLimit(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	evict := enforcement(providertest.Values{"action": "evict", "grace_period": "30m"})
	p := s.Plan(nil, values(evict))
	contains(t, p.Diagnostics, "WARNING", "Budget team-a evicts pods", "reached for 30m", "up to 10 pods")
	o, diags := s.Apply(p)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	lower := func(hours string) providertest.Values {
		return values(evict).With(providertest.Values{"gpu_hours": hours})
	}

	before := time.Now().UTC().Add(30 * time.Minute).Truncate(time.Second)
	diags = s.Plan(o, lower("50")).Diagnostics
	after := time.Now().UTC().Add(30 * time.Minute)
	contains(t, diags, "WARNING", `"gpu_hours"`, "from 100 to 50", "not known yet", "From 30m after the apply, not before ", ", pods may be evicted.")
	_, rest, _ := strings.Cut(diags.String(), "not before ")
	if at, err := time.Parse(time.RFC3339, strings.SplitN(rest, ",", 2)[0]); err != nil || at.Before(before) || at.After(after) {
		t.Errorf("pods may be evicted from %q on: %v", rest, err)
	}
	if len(diags) != 1 {
		t.Errorf("%d diagnostics, not one:\n%s", len(diags), diags)
	}
	w.Judge("team-a", func(s *core.Status) { s.Usage.Consumed = 60 * core.Hour })
	contains(t, s.Plan(o, lower("50")).Diagnostics, "60.000 were used as of ", "at least the new limit")
	contains(t, s.Plan(o, lower("70")).Diagnostics, "60.000 were used as of ", "less than the new limit")
	for _, same := range []string{"100", "100.000", "150"} {
		if diags := s.Plan(o, lower(same)).Diagnostics; len(diags) > 0 {
			t.Errorf("with a limit of %s: %s", same, diags)
		}
	}
	o, diags = apply(t, s, o, lower("50"))
	contains(t, diags, "from 100 to 50")
	// Milder actions have their own warnings, and each blocks pools.
	for action, want := range map[string]string{
		"alert_only": "do not grow.", "freeze": "new GPU pods may be blocked", "pause": "workloads may be paused",
	} {
		change := lower("10").With(enforcement(providertest.Values{"action": action, "grace_period": "30m"}))
		contains(t, s.Plan(o, change).Diagnostics, want, "spot pools that name the budget launch nothing")
	}
	s.Destroy(o)
}

// Each plan of a doubtful budget warns, except the plan that destroys it.
func TestDoubtsEndWithTheBudget(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	config := values(enforcement(providertest.Values{"action": "evict", "grace_period": "0s"}))
	p := s.Plan(nil, config)
	contains(t, p.Diagnostics, "WARNING", "leave time to save work")
	o, _ := s.Apply(p)
	contains(t, s.Plan(o, config).Diagnostics, "WARNING", "leave time to save work")
	if diags := append(s.Validate(config), s.Plan(o, nil).Diagnostics...); len(diags) > 0 {
		t.Errorf("destroying it: %s", diags)
	}
	s.Destroy(o)
}

// Each refresh repeats the warnings of the last run.
func TestWarningsOfTheLastRun(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	o := create(t, s, values(nil))
	if _, diags := s.Read(o); len(diags) > 0 {
		t.Errorf("before any run: %s", diags)
	}
	w.Judge("team-a", func(s *core.Status) { s.Warnings = reason.Reasons{reason.Overlaps(reason.Objects{"budget/team-b"})} })
	_, diags := s.Read(o)
	contains(t, diags, "WARNING", "Budget team-a", "count for budget/team-b")
	s.Destroy(o)
}

// A plan warns of a missing record, and an apply writes it.
func TestPlanWarnsOfALostRecord(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	o := create(t, s, values(nil))
	w.Forget("team-a")
	read, diags := s.Read(o)
	if len(diags) > 0 || read.Attribute("generation") != o.Attribute("generation") {
		t.Errorf("reading: %s", diags)
	}
	p := s.Plan(read, values(nil))
	contains(t, p.Diagnostics, "WARNING", "is not recorded", "records it there again", "two stores")
	if p.Attribute("generation") != providertest.Unknown || p.Attribute("uid") != o.Attribute("uid") {
		t.Errorf("planned generation %v of %v", p.Attribute("generation"), p.Attribute("uid"))
	}
	o, diags = s.Apply(p)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	again, _ := s.Read(o)
	if p := s.Plan(again, values(nil)); len(p.Diagnostics) > 0 || p.Attribute("generation") == providertest.Unknown {
		t.Errorf("once it is recorded: %s", p.Diagnostics)
	}
	s.Destroy(again)
}

// An update of the budget after the plan takes precedence.
func TestPlanOfAnOlderGeneration(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	o := create(t, s, values(nil))
	late := s.Plan(o, values(providertest.Values{"gpu_hours": "5"}))
	if _, diags := apply(t, s, o, values(providertest.Values{"gpu_hours": "200"})); len(diags) > 0 {
		t.Fatal(diags)
	}
	_, diags := s.Apply(late)
	contains(t, diags, "changed after this plan", "plan again")
	o, _ = s.Read(o)
	if o.Attribute("gpu_hours") != "200" {
		t.Errorf("the limit is %v", o.Attribute("gpu_hours"))
	}
	s.Destroy(o)
}

// An apply waits for a locked budget, up to its timeout.
func TestLockedBudget(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	lock, err := w.Store().Lock(t.Context(), "budget/team-a", 0)
	if err != nil {
		t.Fatal(err)
	}
	impatient := values(providertest.Values{"timeouts": providertest.Values{"create": "1s"}})
	_, diags := s.Apply(s.Plan(nil, impatient))
	contains(t, diags, "ERROR", "Budget is locked")
	time.AfterFunc(time.Second, func() { _ = lock.Release() })
	s.Destroy(create(t, s, values(nil)))
}
