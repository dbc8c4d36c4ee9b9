package browser

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/explain"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/status"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/page"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

type words struct{}

func (words) Details(r reconcile.StatusReport, tenant bool) (list []page.Section) {
	for _, s := range status.Details(r, tenant) {
		list = append(list, page.Section{Objects: s.Objects, Lines: s.Lines})
	}
	return list
}
func (words) Explanation(x reconcile.Explanation, tenant bool) string {
	return explain.PageText(x, tenant)
}

// start serves a world until the test ends, and returns its address.
func start(t *testing.T, w reconcile.World, users access.Authenticator) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // at once
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	handler := serve.Handler(serve.Options{
		Source: snapshot.New(w), Authenticator: users, Version: "1.2.3", Log: slog.New(slog.DiscardHandler), Loopback: true, Words: words{},
	})
	go func() { served <- serve.Serve(ctx, listener, nil, handler) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return "http://" + listener.Addr().String()
}

// fragileStore is a store that can be gone.
type fragileStore struct {
	store.Store
	gone atomic.Bool
}

func (s *fragileStore) List(ctx context.Context, kind store.Kind) ([]store.Document, error) {
	if s.gone.Load() {
		return nil, errors.New("the store is gone")
	}
	return s.Store.List(ctx, kind)
}

// tenant is a file of tokens with one reader of a namespace, whose token is their name.
func tenant(t *testing.T, name, namespace string) access.Authenticator {
	t.Helper()
	sum := sha256.Sum256([]byte(name))
	tokens, err := access.ParseTokens([]byte(name + " " + hex.EncodeToString(sum[:]) + " reader " + namespace))
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// story is a pool of which an instance was reclaimed, a budget that is used up, one that is not, and
// a stock pool.
func story(t *testing.T) reconcile.World {
	t.Helper()
	w := reconciletest.NewWorld(t)
	cluster := reconciletest.NewCluster()
	w.Cluster = cluster
	pool := reconciletest.Pool(2, 4)
	w.MustCreateAs(pool)
	process := func() reconcile.World {
		p := w.Process(nil)
		p.Clock = cluster.Now
		return p
	}
	of := process()
	for _, team := range []string{"ml", "research"} {
		b := budget.Declaration{
			Name: "team-" + team, GPUHours: "40", Window: "24h", Selector: budget.Selector{Namespaces: []string{team}},
			Enforce: budget.Enforcement{Action: budget.AlertOnly, GracePeriod: "0s"},
		}
		if team == "research" {
			b.GPUHours = "8"
		}
		if _, err := of.Budgets().Create(t.Context(), b.WithDefaults()); err != nil {
			t.Fatal(err)
		}
		cluster.Start(team, "train-0", 4)
		cluster.Start(team, "notebook-0", 1)
	}
	stock := stockpool.Declaration{
		Name: "g1", Namespace: "ml", SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi", GPU: 1, Replicas: 2,
		AllocatedSelector: "session",
	}
	if _, err := of.StockPools().Create(t.Context(), stock.WithDefaults(), 0); err != nil {
		t.Fatal(err)
	}
	w.Reclaim(1)
	run(t, of)
	for range 12 {
		cluster.Step(15 * time.Minute)
		run(t, process())
	}
	return process()
}

func run(t *testing.T, w reconcile.World) {
	t.Helper()
	if _, err := w.Runner().Run(t.Context(), reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
}

// huge has 1,000 budgets, 1,000 spot pools and 1,000 stock pools, which were reconciled twice.
func huge(t *testing.T) reconcile.World {
	t.Helper()
	w := reconciletest.NewWorld(t)
	cluster := reconciletest.NewCluster()
	w.Cluster = cluster
	process := func() reconcile.World {
		p := w.Process(nil)
		p.Clock = cluster.Now
		return p
	}
	of := process()
	names := func(create func(n int) error) {
		for n := range 1000 {
			if err := create(n); err != nil {
				t.Fatal(err)
			}
			if n%20 == 0 { // a long history would take most of the time
				forget(t, of.Store)
			}
		}
	}
	names(func(n int) error {
		stock := stockpool.Declaration{
			Name: fmt.Sprintf("stock-%04d", n), Namespace: "ml", SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi", GPU: 1,
			Replicas: 1, AllocatedSelector: "session",
		}
		_, err := of.StockPools().Create(t.Context(), stock.WithDefaults(), 0)
		return err
	})
	names(func(n int) error {
		pool := reconciletest.Pool(0, 1)
		pool.Name = fmt.Sprintf("pool-%04d", n)
		_, err := of.SpotPools().Create(t.Context(), pool, 0)
		return err
	})
	names(func(n int) error {
		b := budget.Declaration{
			Name: fmt.Sprintf("team-%04d", n), GPUHours: "40", Window: "24h", Selector: budget.Selector{Namespaces: []string{fmt.Sprintf("team-%04d", n)}},
		}
		if n%10 == 0 {
			b.Selector.Namespaces = []string{"ml"}
		}
		_, err := of.Budgets().Create(t.Context(), b.WithDefaults())
		return err
	})
	cluster.Start("ml", "train-0", 4)
	run(t, process())
	cluster.Step(15 * time.Minute)
	run(t, process())
	return process()
}

// forget removes the history of a store.
func forget(t *testing.T, s store.Store) {
	t.Helper()
	documents, err := s.List(t.Context(), store.History)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range documents {
		if err := s.Delete(t.Context(), d.Key, d.Revision); err != nil {
			t.Fatal(err)
		}
	}
}

// large has so many budgets, with names of the longest length, and markup in names of pods.
func large(t *testing.T, budgets int) reconcile.World {
	t.Helper()
	d := reconciletest.NewFixture(t)
	for n := range budgets {
		d.Declare(func(b *budget.Declaration) {
			b.Name = fmt.Sprintf("%04d-%s", n, strings.Repeat("long-name-", 4)+"names")
			b.Selector = budget.Selector{Namespaces: []string{"ml"}}
		})
	}
	d.Cluster.Start("ml", "<script>document.title='broken'</script>", 4, func(*gpu.Pod) {})
	d.Run()
	return d.Process()
}
