package notification_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	core "github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func TestMain(m *testing.M) { providertest.Main(m) }

const address = "gpupool_notification.ops"

// attributes are arguments of a notification, in HCL. Empty ones are omitted.
type attributes map[string]string

func config(changes ...attributes) string {
	all := attributes{"name": `"ops"`, "type": `"slack"`, "url_wo": `"https://hooks.example/T0/hunter1"`, "url_wo_version": "1"}
	return providertest.Block("gpupool_notification", "ops", all, changes...)
}

func run(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: providertest.Factories(), Steps: steps})
}

func planned(checks ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: checks}
}

func action(a plancheck.ResourceActionType) plancheck.PlanCheck {
	return plancheck.ExpectResourceAction(address, a)
}

func is(name string, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), want)
}

func generation(n int64) statecheck.StateCheck { return is("generation", knownvalue.Int64Exact(n)) }

func message(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join(strings.Fields(regexp.QuoteMeta(words)), `\s+`))
}

// values are the notification of these tests as JSON.
func values(changes providertest.Values) providertest.Values {
	return providertest.Values{
		"name": "ops", "type": "slack", "url_wo": "https://hooks.example/T0/hunter1", "url_wo_version": 1,
	}.With(changes)
}

func serve(t *testing.T, w *providertest.World, arguments providertest.Values) *providertest.Server {
	t.Helper()
	s, diags := w.Serve(nil, arguments)
	if len(diags) > 0 {
		t.Fatalf("configuring the provider: %s", diags)
	}
	return s.For("gpupool_notification")
}

func create(t *testing.T, s *providertest.Server, config providertest.Values) *providertest.Object {
	t.Helper()
	return apply(t, s, nil, config)
}

func apply(t *testing.T, s *providertest.Server, o *providertest.Object, config providertest.Values) *providertest.Object {
	t.Helper()
	p := s.Plan(o, config)
	o, diags := s.Apply(p)
	if all := slices.Concat(p.Diagnostics, diags); len(all) > 0 {
		t.Fatalf("applying: %s", all)
	}
	return o
}

func contains(t *testing.T, diags providertest.Diagnostics, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(diags.String(), w) {
			t.Errorf("%q is missing in\n%s", w, diags)
		}
	}
}

// recorded is the declaration in the store.
func recorded(t *testing.T, w *providertest.World) core.Declaration {
	t.Helper()
	d, err := w.Process().Notifications().Find(t.Context(), "ops")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// rewrite changes the record in the store without a change of its generation.
func rewrite(t *testing.T, w *providertest.World, change func(*declaration.Notification)) {
	t.Helper()
	r, err := record.Load[declaration.Notification](t.Context(), w.Store(), store.Notifications, "ops")
	if err != nil || !r.Exists() {
		t.Fatalf("the record: %v", err)
	}
	value := r.Value
	change(&value)
	if _, err := record.Save(t.Context(), w.Store(), store.Notifications, "ops", r, value); err != nil {
		t.Fatal(err)
	}
}

// forget removes the record, and nothing else.
func forget(t *testing.T, w *providertest.World) {
	t.Helper()
	s := w.Store()
	doc, err := s.Read(t.Context(), store.Key{Kind: store.Notifications, Name: "ops"})
	if err == nil {
		err = s.Delete(t.Context(), doc.Key, doc.Revision)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// deliver changes the journal as a run would.
func deliver(t *testing.T, w *providertest.World, change func(*core.Journal)) {
	t.Helper()
	uid := recorded(t, w).UID
	j, err := record.Load[declaration.NotificationJournal](t.Context(), w.Store(), store.Deliveries, uid)
	if err != nil || !j.Exists() {
		t.Fatalf("the deliveries: %v", err)
	}
	value := j.Value
	change(&value)
	if _, err := record.Save(t.Context(), w.Store(), store.Deliveries, uid, j, value); err != nil {
		t.Fatal(err)
	}
}

func fail(j *core.Journal) {
	j.FailingSince, j.NextAt = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 26, 13, 0, 0, 0, time.UTC)
	j.Attempts, j.Failure = 3, &core.Failure{Code: "no_service", Reason: reason.SlackNoWebhook(reason.SlackRefused())}
}

func nothingRecorded(t *testing.T, w *providertest.World) {
	t.Helper()
	for _, kind := range []store.Kind{store.Notifications, store.Deliveries} {
		if docs, err := w.Store().List(t.Context(), kind); err != nil || len(docs) > 0 {
			t.Errorf("%d documents of %s (%v)", len(docs), kind, err)
		}
	}
}
