package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func plain(t testing.TB, value any) any {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var of any
	if err := json.Unmarshal(data, &of); err != nil {
		t.Fatal(err)
	}
	return of
}

// TestNumbersAreEqual reads random stores by the API, /metrics, the pages and the report, and as gpupool
// status does. All have the same numbers.
func TestNumbersAreEqual(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		w := randomStore(t, r, &chat{t: t}).World
		status, err := w.Runner().Status(context.Background())
		if err != nil {
			r.Fatal(err)
		}
		want := plain(t, status.NoNulls()).(map[string]any)
		h := handler(w)
		for path, field := range map[string]string{"budgets": "budgets", "stockpools": "stock_pools", "spotpools": "spot_pools"} {
			if diff := cmp.Diff(want[field], read(t, h, "/api/v1/"+path)[field]); diff != "" {
				r.Fatalf("status (-) and GET %s (+):\n%s", path, diff)
			}
		}
		if diff := cmp.Diff(want, read(t, h, "/api/v1/status")); diff != "" {
			r.Fatalf("status (-) and GET status (+):\n%s", diff)
		}
		if diff := cmp.Diff(shownOf(status), shown(page(t, h, "/"))); diff != "" {
			r.Fatalf("status (-) and the overview (+):\n%s", diff)
		}
		report, err := serve.Report(context.Background(), w, words{}, "1.2.3")
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(shownOf(status), shown(string(report))); diff != "" {
			r.Fatalf("status (-) and the report (+):\n%s", diff)
		}
		got := samples(t, ask(t, h, http.MethodGet, "/metrics", "").Body.String())
		numbers := numbersOf(t, status)
		for _, name := range slices.Sorted(maps.Keys(numbers)) {
			if value, there := got[name]; !there || value != numbers[name] {
				r.Fatalf("status has %v for %s, and /metrics %v (%v)", numbers[name], name, value, there)
			}
		}
		// Of an object, there is nothing that status does not have.
		for name, value := range got {
			ofObject := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
			if _, there := numbers[name]; !there && slices.ContainsFunc([]string{"gpupool_object_state{", "gpupool_pool_", "gpupool_stock_pool_"}, ofObject) {
				r.Fatalf("/metrics has %v for %s, and status nothing", value, name)
			}
		}
	})
}

// TestUnobservedObjectsHaveNoNumbers reads the JSON of commands and of the API. Without Tencent Cloud and
// the cluster, their numbers and lists are absent, and not 0 or empty.
func TestUnobservedObjectsHaveNoNumbers(t *testing.T) {
	t.Parallel()
	d, cloud := teams(t), reconciletest.NewStillWorld(t, time.Now())
	world := d.Process()
	world.Cloud, world.PollInterval = cloud.Client(30*time.Second, 6), 5*time.Millisecond
	if _, err := world.SpotPools().Create(t.Context(), reconciletest.Pool(1, 3), 0); err != nil {
		t.Fatal(err)
	}
	d.Declare(func(b *budget.Declaration) { b.Name = "new" }) // no run has measured it
	documentsOf(t, world).verify(t, true)
	away := errors.New("connection refused")
	world.Cloud = spotpools.LazyCloud(func(context.Context) (spotpools.Cloud, error) { return nil, away })
	world.Cluster = func(context.Context) (reconcile.Cluster, error) { return nil, away }
	documentsOf(t, world).verify(t, false)
}

// documents are JSON documents about all objects of a store.
type documents map[string]map[string]any

func documentsOf(t *testing.T, w reconcile.World) documents {
	t.Helper()
	status, err := w.Runner().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x, err := w.Runner().Explain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run, err := w.Runner().Run(t.Context(), reconcile.RunOptions{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	all := documents{}
	for name, of := range map[string]any{"status": status.NoNulls(), "explain": x.NoNulls(), "reconcile": run} {
		all[name] = plain(t, of).(map[string]any)
	}
	h := handler(w)
	for _, path := range []string{
		"status", "spotpools", "stockpools", "budgets", "explain/spot_pool/ap-singapore/train", "explain/stock_pool/ml/pool-ml", "explain/budget/new",
	} {
		all["/api/v1/"+path] = read(t, h, "/api/v1/"+path)
	}
	return all
}

// verify checks which fields objects have, by whether Tencent Cloud and the cluster were reached. The
// budgets of a status are as of the last run.
func (all documents) verify(t *testing.T, reached bool) {
	t.Helper()
	seen := map[string]int{}
	for document, of := range all {
		explains, runs := strings.Contains(document, "explain"), document == "reconcile"
		for kind, fields := range map[string][]string{
			"spot_pools": keysOf[spotpool.Counts](), "stock_pools": keysOf[decide.Status](), "budgets": keysOf[budgets.UsageReport](),
		} {
			if kind != "budgets" && !runs {
				fields = append(fields, "decisions")
			}
			if kind == "spot_pools" && !runs {
				fields = append(fields, "machines", "cooldowns", "pending_launches")
			}
			if explains {
				fields = append(fields, map[string][]string{
					"spot_pools": {"offerings", "standings"}, "stock_pools": {"budgets", "standings", "writers"}, "budgets": {"next"},
				}[kind]...)
			}
			list, _ := of[kind].([]any)
			for _, value := range list {
				object := value.(map[string]any)
				observed := reached
				if kind == "budgets" && !runs && (object["name"] != "new" || !explains) {
					observed = object["name"] != "new"
				}
				name := fmt.Sprintf("%s: %s/%s", document, kind, object["name"])
				verifyFields(t, name, object, observed, fields)
				if _, there := object["decisions"]; kind == "budgets" && explains && there != reached {
					t.Errorf("%s: the decisions are %v", name, object["decisions"])
				}
				seen[kind]++
			}
		}
	}
	for kind, n := range map[string]int{"spot_pools": 6, "stock_pools": 6, "budgets": 6} {
		if seen[kind] < n {
			t.Errorf("only %d %s were read", seen[kind], kind)
		}
	}
}

func verifyFields(t *testing.T, name string, object map[string]any, observed bool, fields []string) {
	t.Helper()
	if object["observed"] != observed {
		t.Errorf("%s: observed is %v, want %v", name, object["observed"], observed)
	}
	for _, field := range fields {
		if value, there := object[field]; there != observed {
			t.Errorf("%s: observed (%v), its %s is %v (%v)", name, observed, field, value, there)
		}
	}
	if strings.Contains(name, "spot_pools") && (object["minimum"] != 1. || object["maximum"] != 3. || object["currency"] != "CNY") {
		t.Errorf("%s is declared with %v to %v in %v", name, object["minimum"], object["maximum"], object["currency"])
	}
}

// keysOf are the fields that the JSON of a type always has. The limit of a budget is also declared.
func keysOf[T any]() (keys []string) {
	of := reflect.TypeFor[T]()
	for n := range of.NumField() {
		key, options, _ := strings.Cut(of.Field(n).Tag.Get("json"), ",")
		if key != "-" && key != "limit_gpu_hours" && options == "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// random is a world of random objects, and the namespace of each of its pods.
type random struct {
	reconcile.World
	pods map[string]string
}

// damage makes a random document unreadable, or none.
func (w random) damage(r *rapid.T) {
	kind := rapid.SampledFrom([]store.Kind{"", store.Budgets, store.Statuses, store.StockPools, store.SpotPools, store.Pauses}).Draw(r, "damaged")
	if kind == "" {
		return
	}
	docs, err := w.Store.List(context.Background(), kind)
	if err == nil && len(docs) > 0 {
		doc := docs[rapid.IntRange(0, len(docs)-1).Draw(r, "document")]
		_, err = w.Store.Write(context.Background(), doc.Key, []byte("{"), doc.Revision)
	}
	if err != nil {
		r.Fatal(err)
	}
}

// randomStore is a store of random objects and pods after random runs, which sent notifications to a chat.
func randomStore(t *testing.T, r *rapid.T, to *chat) random {
	t.Helper()
	pods := map[string]string{}
	d := reconciletest.NewFixture(t)
	cloud := reconciletest.NewStillWorld(t, time.Now())
	if err := cloud.Sim.Server.SetStock(cvmsim.StockRequest{
		AvailabilityZone: reconciletest.ZoneA, InstanceType: reconciletest.GPUType, Stock: new(int64(rapid.IntRange(0, 3).Draw(r, "stock"))),
	}); err != nil {
		t.Fatal(err)
	}
	world := func() reconcile.World {
		w := d.Process()
		w.Cloud, w.PollInterval, w.Sender = cloud.Client(30*time.Second, 6), 5*time.Millisecond, &to.Receiver
		return w
	}
	to.declare(world())
	namespaces := []string{"ml", "research", "web"}
	names := func(of string, most int) []string {
		return rapid.SliceOfNDistinct(rapid.StringMatching(`q[0-9]{2}[a-z]{2,5}`), 0, most, rapid.ID[string]).Draw(r, of)
	}
	for _, name := range names("budgets", 5) {
		d.Declare(func(b *budget.Declaration) {
			b.Name, b.GPUHours = name, rapid.SampledFrom([]string{"4", "1", "100.5", "0.25"}).Draw(r, "limit")
			actions := []budget.Action{budget.AlertOnly, budget.Freeze, budget.Pause, budget.Evict}
			b.Enforce = budget.Enforcement{Action: rapid.SampledFrom(actions).Draw(r, "action"), GracePeriod: "0s"}
			b.Selector = budget.Selector{Namespaces: rapid.SliceOfNDistinct(rapid.SampledFrom(namespaces), 1, 3, rapid.ID[string]).Draw(r, "namespaces")}
		})
	}
	for _, name := range names("stock pools", 3) {
		pool := stockpool.Declaration{
			Name: name, Namespace: rapid.SampledFrom(namespaces).Draw(r, "namespace"), SpecName: "g1.1", Image: "registry.example.com/team/runtime:1",
			Memory: "16Gi", GPU: 1, Replicas: rapid.IntRange(0, 3).Draw(r, "replicas"), AllocatedSelector: "session",
		}
		if _, err := world().StockPools().Create(context.Background(), pool.WithDefaults(), 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names("spot pools", 2) {
		pool := reconciletest.Pool(rapid.IntRange(0, 2).Draw(r, "minimum"), 3)
		pool.Name = name
		_, _ = world().SpotPools().Create(context.Background(), pool, 0) // it can remain short
	}
	for range rapid.SampledFrom([]int{4, 2, 1, 0}).Draw(r, "pods") {
		namespace, name := rapid.SampledFrom(namespaces).Draw(r, "namespace"), "pod-"+rapid.StringMatching(`[a-z]{8}`).Draw(r, "pod")
		d.Cluster.Start(namespace, name, 2, func(*gpu.Pod) {})
		pods[name] = namespace
	}
	for range rapid.SampledFrom([]int{3, 2, 1, 0}).Draw(r, "runs") {
		d.Cluster.Step(rapid.SampledFrom([]time.Duration{30 * time.Minute, 2 * time.Hour, time.Second, 3599 * time.Second}).Draw(r, "step"))
		if rapid.Bool().Draw(r, "job") {
			if _, err := world().Jobs().Submit(context.Background(), request.Request{Run: &request.Run{}}, "ann", ""); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := world().Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
			t.Fatal(err)
		}
		to.verify(r, world())
	}
	return random{world(), pods}
}

// samples are the values of an exposition, by name and labels.
func samples(t *testing.T, text string) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.TrimSpace(line)
		end := strings.LastIndex(line, " ")
		all[line[:end]] = number(t, line[end+1:])
	}
	return all
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// numbersOf are the metrics that a status implies.
func numbersOf(t *testing.T, s reconcile.StatusReport) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	set := func(value float64, format string, labels ...any) {
		all[fmt.Sprintf("gpupool_"+format, labels...)] = value
	}
	for kind, n := range map[string]int{"spot_pool": len(s.SpotPools), "budget": len(s.Budgets), "stock_pool": len(s.StockPools)} {
		set(float64(n), "declarations{kind=%q}", kind)
	}
	state := func(kind, name, state string) { set(1, "object_state{kind=%q,name=%q,state=%q}", kind, name, state) }
	for _, p := range s.SpotPools {
		state("spot_pool", p.Summary().Name, string(p.State))
		spotPool(t, set, p)
	}
	for _, b := range s.Budgets {
		for _, is := range b.State {
			state("budget", b.Name, string(is))
		}
		usage(t, set, b)
	}
	for _, p := range s.StockPools {
		state("stock_pool", p.Summary().Name, string(p.State))
		if p.Status == nil {
			continue
		}
		for name, n := range map[string]int{
			"desired": p.Desired, "replicas": p.Replicas, "allocated": p.Allocated, "available": p.Available, "waiting": p.Waiting,
		} {
			set(float64(n), "stock_pool_%s{name=%q,namespace=%q}", name, p.Name, p.Namespace)
		}
	}
	if s.LastRun != nil {
		lastRun(set, *s.LastRun)
	}
	return all
}

type setter func(value float64, format string, labels ...any)

func spotPool(t *testing.T, set setter, p spotpools.Description) {
	t.Helper()
	of := map[string]float64{"minimum": float64(p.Minimum), "maximum": float64(p.Maximum)}
	if p.Counts != nil {
		of["capacity"], of["total"], of["shortfall"] = float64(p.Capacity), float64(p.Total), float64(p.Shortfall)
		set(number(t, p.HourlyPrice.String()), "pool_hourly_price{currency=%q,name=%q,region=%q}", p.Currency, p.Name, p.Region)
	}
	for name, value := range of {
		set(value, "pool_%s{name=%q,region=%q}", name, p.Name, p.Region)
	}
}

func usage(t *testing.T, set setter, b budgets.Description) {
	t.Helper()
	if b.UsageReport == nil {
		return
	}
	for name, text := range map[string]*string{
		"consumed_gpu_hours": &b.ConsumedGPUHours, "limit_gpu_hours": b.LimitGPUHours, "remaining_gpu_hours": b.RemainingGPUHours,
		"burn_rate_gpus": &b.BurnRateGPUs, "error_bound_gpu_hours": &b.ErrorBoundGPUHours,
	} {
		if text != nil {
			set(number(t, *text), "budget_%s{name=%q}", name, b.Name)
		}
	}
	set(float64(b.TrackedPods), "budget_tracked_pods{name=%q}", b.Name)
}

func lastRun(set setter, last declaration.RunSummary) {
	c := last.Counters
	set(float64(c.Runs), "runs_total")
	set((time.Duration(c.RunMilliseconds) * time.Millisecond).Seconds(), "run_seconds_total")
	set(float64(c.Events["job/succeeded"]), `jobs_total{state="succeeded"}`)
	set(float64(c.Events["launch/SPOTPAID"]), `launched_instances_total{charge_type="SPOTPAID"}`)
	set(float64(c.Events["refused/capacity"]), `refused_launches_total{class="capacity"}`)
	set(float64(c.Events["reclaim"]), "reclaimed_instances_total")
	set(float64(c.Events["lost"]), "lost_instances_total")
	for action, n := range c.Calls {
		set(float64(n), "calls_total{action=%q}", action)
	}
	for of, n := range c.Decisions {
		kind, outcome, _ := strings.Cut(of, "/")
		set(float64(n), "decisions_total{kind=%q,outcome=%q}", kind, outcome)
	}
	for of, n := range last.Outcomes {
		kind, outcome, _ := strings.Cut(of, "/")
		set(float64(n), "decisions{kind=%q,outcome=%q}", kind, outcome)
	}
}
