package spotpool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// declareBudget declares a budget in the store.
func declareBudget(t *testing.T, w *providertest.World, changes ...func(*budget.Declaration)) {
	t.Helper()
	d := budget.Declaration{Name: "team-a", GPUHours: "1000", Window: "24h", Selector: budget.Selector{Namespaces: []string{"ml"}}}.WithDefaults()
	for _, change := range changes {
		change(&d)
	}
	if _, err := w.Process().Budgets().Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

func used(hours int64) func(*budget.Status) {
	return func(s *budget.Status) { s.Usage.Consumed = hours * budget.Hour }
}

func ago(d time.Duration) func(*budget.Status) {
	return func(s *budget.Status) { s.At = s.At.Add(-d) }
}

var gated = providertest.Values{"budget": "team-a"}

// A new pool's plan says what its budget would let happen now, and plans the same
// whatever that is: Terraform plans again during apply.
func TestGateOfANewPool(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	plan := func() providertest.Planned { return s.Plan(nil, train(gated)) }
	missing := plan()
	contains(t, missing.Diagnostics, "WARNING", `"budget"`, "Budget team-a is not declared yet", "No instances are launched before it is declared",
		`has no budget "team-a", and no other. `, record.DeclaredTogether)
	declareBudget(t, w)
	contains(t, s.Plan(nil, train(providertest.Values{"budget": "team-x"})).Diagnostics, `has no budget "team-x": did you mean "team-a"? It has team-a`)
	unjudged := plan()
	contains(t, unjudged.Diagnostics, "has no status in the store")
	w.Judge("team-a", used(10))
	open := plan()
	if strings.Contains(open.Diagnostics.String(), "Budget team-a") {
		t.Errorf("an open gate: %s", open.Diagnostics)
	}
	w.Judge("team-a", used(1000))
	exceeded := plan()
	contains(t, exceeded.Diagnostics, "is used up: 1000.000 of 1000.000 GPU-hours as of ")
	w.Judge("team-a", ago(2*time.Hour))
	stale := plan()
	contains(t, stale.Diagnostics, "its status is as of ", "max_status_age is 1h")
	for name, p := range map[string]providertest.Planned{"unjudged": unjudged, "open": open, "exceeded": exceeded, "stale": stale} {
		if diff := cmp.Diff(missing.State.String(), p.State.String()); diff != "" {
			t.Errorf("%s: the plan of values depends on the gate:\n%s", name, diff)
		}
	}
	actions, _ := missing.Attribute("planned_actions").([]any)
	if diff := cmp.Diff([]any{firstLaunch + "; if its budget team-a allows it then"}, actions); diff != "" {
		t.Error(diff)
	}
	// A pool without a budget depends on none.
	if p := s.Plan(nil, train(nil)); strings.Contains(p.Diagnostics.String(), "udget") {
		t.Errorf("without a budget: %s", p.Diagnostics)
	}
	// Unknown at plan: no gate is shown, and nothing is planned.
	if p := s.Plan(nil, train(providertest.Values{"budget": providertest.Unknown})); len(p.Diagnostics) > 0 ||
		p.Attribute("planned_actions") != providertest.Unknown {
		t.Errorf("with an unknown budget: %s", p.Diagnostics)
	}
}

// createGated creates a pool whose budget is within its limit.
func createGated(t *testing.T) (*providertest.World, *providertest.Server, *providertest.Object) {
	t.Helper()
	w := providertest.NewWithCluster(t)
	declareBudget(t, w)
	w.Judge("team-a", used(1))
	s := serve(t, w)
	return w, s, create(t, s, train(gated))
}

// While its budget is exceeded a pool keeps what it has and gets nothing new; the
// plan says why. It goes on by itself.
func TestGateOfAPool(t *testing.T) {
	t.Parallel()
	w, s, o := createGated(t)
	if n := len(w.Pool("train")); n != 2 {
		t.Fatalf("%d instances, not 2", n)
	}
	refresh := func() providertest.Diagnostics {
		t.Helper()
		s = fresh(t, w)
		var diags providertest.Diagnostics
		o, diags = s.Read(o)
		return diags
	}

	w.Judge("team-a", used(1000))
	if diags := refresh(); len(diags) > 0 {
		t.Errorf("refreshing a whole pool: %s", diags)
	}
	if p := s.Plan(o, train(gated)); len(p.Diagnostics) > 0 || !p.State.Equal(o.State) {
		t.Errorf("the plan of a whole pool: %s", p.Diagnostics)
	}
	more := train(gated).With(providertest.Values{"minimum": 3})
	p := s.Plan(o, more)
	contains(t, p.Diagnostics, "nothing can be launched now", "budget/team-a is used up")
	o, diags := s.Apply(p)
	contains(t, diags, "WARNING", "below the minimum of 3", "budget/team-a is used up")
	if n := len(w.Pool("train")); n != 2 || strings.Contains(diags.String(), "ERROR") {
		t.Errorf("%d instances: %s", n, diags)
	}

	w.Judge("team-a", ago(3*time.Hour))
	refresh()
	p = s.Plan(o, more)
	contains(t, p.Diagnostics, "nothing can be launched now", "usage of budget/team-a is unknown", "max_status_age")
	if !p.State.Equal(o.State) {
		t.Errorf("the plan does something behind a closed gate: %v", p.Attribute("planned_actions"))
	}

	w.Judge("team-a", used(999))
	refresh()
	p = s.Plan(o, more)
	if actions, _ := p.Attribute("planned_actions").([]any); len(actions) != 1 || !strings.HasPrefix(actions[0].(string), "launch 1 spot") ||
		strings.Contains(actions[0].(string), "allows") {
		t.Errorf("planned %v: %s", p.Attribute("planned_actions"), p.Diagnostics)
	}
	// The gate closes between plan and apply: the apply keeps to it, and warns.
	w.Judge("team-a", used(1000))
	o, diags = fresh(t, w).Apply(p)
	contains(t, diags, "WARNING", "budget/team-a is used up")
	if n := len(w.Pool("train")); n != 2 {
		t.Errorf("%d instances, not 2", n)
	}
	s.Destroy(o)
}

// The plan of a pool that gets a budget does not depend on the budget, and warns of it.
func TestGateOfAnotherBudget(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	declareBudget(t, w)
	w.Judge("team-a", used(1000))
	s := serve(t, w)
	o := create(t, s, train(nil))
	o, _ = s.Read(o)
	more := train(gated).With(providertest.Values{"minimum": 3})
	p := s.Plan(o, more)
	contains(t, p.Diagnostics, "Budget team-a blocks launches", "is used up")
	if actions, _ := p.Attribute("planned_actions").([]any); len(actions) != 1 ||
		!strings.HasSuffix(actions[0].(string), "; if its budget team-a allows it then") {
		t.Errorf("planned %v", p.Attribute("planned_actions"))
	}
	w.Judge("team-a", used(1))
	if again := fresh(t, w).Plan(o, more); again.State.String() != p.State.String() {
		t.Error("the plan of values depends on the gate")
	}
	o, diags := fresh(t, w).Apply(p)
	if n := len(w.Pool("train")); n != 3 || len(diags) > 0 {
		t.Errorf("%d instances: %s", n, diags)
	}
	// Without its budget it depends on none.
	w.Judge("team-a", used(1000))
	s = fresh(t, w)
	o, _ = s.Read(o)
	p = s.Plan(o, train(providertest.Values{"minimum": 4}))
	if actions, _ := p.Attribute("planned_actions").([]any); len(actions) != 1 || strings.Contains(p.Diagnostics.String(), "udget") {
		t.Errorf("planned %v: %s", p.Attribute("planned_actions"), p.Diagnostics)
	}
	s.Destroy(o)
}

// Terraform folds warnings with one headline into the first, which would hide what came of
// an apply behind what its plan said.
func TestWarningsOfAnApplyHaveAHeadlineOfTheirOwn(t *testing.T) {
	t.Parallel()
	w, s, o := createGated(t)
	w.Judge("team-a", used(100000))
	o, _ = s.Read(o)
	p := s.Plan(o, train(gated).With(providertest.Values{"minimum": 4}))
	o, applied := s.Apply(p)
	contains(t, p.Diagnostics, "Spot pools of ap-singapore are short in this plan: blocked by the budget: ", "Spot pool ap-singapore/train", "used up")
	contains(t, applied, "Spot pools of ap-singapore are short after the apply: blocked by the budget: ", "used up")
	for _, planned := range p.Diagnostics {
		if slices.ContainsFunc(applied, func(d *tfprotov6.Diagnostic) bool { return d.Summary == planned.Summary }) {
			t.Errorf("%q heads warnings of the plan and of the apply", planned.Summary)
		}
	}
	s.Destroy(o)
}

// If a pool would use up its budget before the window ends, each refresh warns and has the time.
// So does the plan of a larger pool.
func TestForecast(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	// Four instances with a T4 each take 12.5 hours for the remaining 50.
	declareBudget(t, w, func(d *budget.Declaration) { d.GPUHours = "60" })
	w.Judge("team-a", used(10))
	s := serve(t, w)
	p := s.Plan(nil, train(gated))
	soon, late := time.Now().UTC().Add(12*time.Hour+25*time.Minute), time.Now().UTC().Add(12*time.Hour+35*time.Minute)
	contains(t, p.Diagnostics, "WARNING", "Budget may be used up", "on its 4 GPUs", "maximum of 4 instances", "has 50.000 GPU-hours left (as of ")
	_, rest, _ := strings.Cut(p.Diagnostics.String(), "used up by ")
	stamp, _, _ := strings.Cut(rest, ",")
	if at, err := time.Parse(time.RFC3339, stamp); err != nil || at.Before(soon) || at.After(late) {
		t.Errorf("used up by %q, not in 12.5 hours: %v", stamp, err)
	}
	o, _ := s.Apply(p)
	s = fresh(t, w)
	o, diags := s.Read(o)
	contains(t, diags, "WARNING", "Spot pool ap-singapore/train", "has 50.000 GPU-hours left", "are used up by ")
	if p := s.Plan(o, train(gated)); len(p.Diagnostics) > 0 {
		t.Errorf("warned twice: %s", p.Diagnostics)
	}
	contains(t, s.Plan(o, train(gated).With(providertest.Values{"maximum": 8})).Diagnostics, "Budget may be used up", "on its 8 GPUs")
	// There is no warning for a limit that no window of this pool reaches: two instances use 48
	// GPU-hours in 24 hours.
	if p := s.Plan(o, train(gated).With(providertest.Values{"maximum": 2})); strings.Contains(p.Diagnostics.String(), "used up") {
		t.Errorf("with a smaller pool: %s", p.Diagnostics)
	}
	s.Destroy(o)
}

// The forecast weighs GPUs as the budget will: by the model that their nodes are
// labeled with, and else by the instance type.
func TestForecastWeighsAsTheBudgetDoes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		weights map[string]string
		gpus    string
	}{
		"a node's name of the model":     {map[string]string{"Tesla-T4": "2"}, "8"},
		"the instance type":              {map[string]string{"GN7.2XLARGE32": "3"}, "12"},
		"the model before the instance":  {map[string]string{"Tesla-T4": "2", "GN7.2XLARGE32": "3"}, "8"},
		"another model and the instance": {map[string]string{"NVIDIA-A10": "2", "GN7.2XLARGE32": "3"}, "12"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := providertest.NewWithCluster(t)
			declareBudget(t, w, func(d *budget.Declaration) { d.GPUHours, d.ModelWeights = "60", test.weights })
			w.Judge("team-a", used(10))
			contains(t, serve(t, w).Plan(nil, train(gated)).Diagnostics, "Budget may be used up", "on its "+test.gpus+" GPUs")
		})
	}
}

// The shortcut for unchanged pools responds like the framework, for each status of their budget.
func TestShortcutRespectsTheGate(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	declareBudget(t, w)
	w.Judge("team-a", used(1))
	s := serve(t, w)
	config := train(gated)
	o := create(t, s, config)
	for _, test := range []struct {
		name  string
		judge func(*budget.Status)
		lose  int // instances
		want  string
	}{
		{"open", used(1), 0, ""},
		{"closed over a whole pool", used(1000), 0, ""},
		{"closed over a short pool", used(1000), 1, "is used up"},
		{"stale over a short pool", ago(3 * time.Hour), 0, "usage of budget/team-a is unknown"},
		{"about to be used up", used(950), 0, ""},
	} {
		w.Judge("team-a", test.judge)
		if test.lose > 0 {
			reclaim(t, w, test.lose)
		}
		s = fresh(t, w)
		full, fullDiags := s.ReadBare(o)
		short, diags := s.Read(o)
		if !short.State.Equal(full.State) || diags.String() != fullDiags.String() {
			t.Errorf("%s: the shortcut refreshes to %s (%s), and the framework to %s (%s)", test.name, short.State, diags, full.State, fullDiags)
		}
		o = short
		planned, bare := s.Plan(o, config), s.PlanBare(o, config)
		if diff := cmp.Diff(bare.State.String()+bare.Diagnostics.String(), planned.State.String()+planned.Diagnostics.String()); diff != "" {
			t.Errorf("%s: the shortcut plans otherwise than the framework:\n%s", test.name, diff)
		}
		contains(t, planned.Diagnostics, test.want)
	}
	s.Destroy(o)
}
