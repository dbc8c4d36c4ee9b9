package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/move"
)

// TestTheRecordDecides applies every operation of a Terraform state to every record that
// the store may have of the object, for all kinds. Each cell is the result for a spot
// pool, a budget and a stock pool, or one result for all three.
func TestTheRecordDecides(t *testing.T) {
	t.Parallel()
	operations := []string{"create", "read", "update", "delete", "import"}
	for _, row := range []struct{ record, results string }{
		//                    create            | read       | update     | delete     | import
		{"same", "             exists            | recorded   | done       | done       | found"},
		{"older", "            exists            | recorded   | plan again | plan again | found"},
		{"newer", "            exists            | recorded   | plan again | plan again | found"},
		{"newer, protected", " exists            | recorded   | plan again | plan again | found"},
		{"protected", "        exists            | recorded   | done       | protected,done,orphaned | found"},
		{"detached", "         exists            | recorded   | done       | orphaned,done,done | found"},
		{"creating", "         done,exists,done  | recorded,recorded,unfinished | done | done | found"},
		{"deleting", "         exists            | recorded   | unfinished | done | found"},
		{"deleting, newer", "  exists            | recorded   | unfinished | done | found"},
		{"another's", "        exists            | another's  | another's  | another's  | found"},
		{"none", "             exists,done,exists  | unrecorded | done       | lost       | found,absent,found"},
		{"moved with its store", "exists          | recorded   | done       | done       | found"},
		{"tombstone", "        done              | gone       | destroyed  | done       | absent"},
		{"in another store", " exists,done,exists  | unrecorded | done       | lost       | found,absent,found"},
	} {
		results := strings.Split(row.results, "|")
		for n, operation := range operations {
			for k, newSubject := range subjects {
				want := strings.Split(strings.TrimSpace(results[n]), ",")
				t.Run(fmt.Sprintf("%s/%s/%d", row.record, operation, k), func(t *testing.T) {
					t.Parallel()
					s := newSubject(t)
					s.arrange(t, row.record)
					if got := s.apply(t, operation); got != want[k%len(want)] {
						t.Errorf("%s of a %s whose record is %s: %s, want %s", operation, s.kind, row.record, got, want[k%len(want)])
					}
				})
			}
		}
	}
}

// subject is an object that a Terraform state declares, with what it has in the world.
type subject struct {
	*reconciletest.World
	kind string
	// rewrite writes the record again. It is not the state's uid if foreign.
	rewrite func(phase declaration.Phase, generations int64, mark string)
	// perform does an operation by the state's declaration, and returns its result.
	perform map[string]func(ctx context.Context, e reconcile.World) (string, error)
	key     store.Key
	// has reports whether anything of the object is left in the world.
	has func() bool
}

var subjects = []func(t *testing.T) *subject{spotPoolSubject, budgetSubject, stockPoolSubject}

func (s *subject) process() reconcile.World {
	p := s.World.Process(nil)
	p.FreezeLag = time.Millisecond
	return p
}

func (s *subject) arrange(t *testing.T, state string) {
	t.Helper()
	switch state {
	case "same":
	case "older":
		s.rewrite(declaration.Active, -1, "")
	case "newer":
		s.rewrite(declaration.Active, 1, "")
	case "newer, protected":
		s.rewrite(declaration.Active, 1, "protected")
	case "protected", "detached", "another's":
		s.rewrite(declaration.Active, 0, state)
	case "creating":
		s.rewrite(declaration.Creating, 0, "")
	case "deleting":
		s.rewrite(declaration.Deleting, 0, "")
	case "deleting, newer":
		s.rewrite(declaration.Deleting, 1, "")
	case "none":
		doc, err := s.Store().Read(t.Context(), s.key)
		if err == nil {
			err = s.Store().Delete(t.Context(), s.key, doc.Revision)
		}
		if err != nil {
			t.Fatal(err)
		}
	case "tombstone":
		if _, err := s.perform["delete"](t.Context(), s.process()); err != nil {
			t.Fatal(err)
		}
	case "moved with its store":
		to := filepath.Join(t.TempDir(), "moved")
		var ends [2]*directory.Store
		for n, path := range []string{s.Dir, to} {
			end, err := directory.Open(path, directory.Options{Create: true, Moving: true})
			if err != nil {
				t.Fatal(err)
			}
			ends[n] = end
		}
		if _, err := (move.Move{From: ends[0], To: ends[1]}).Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Dir = to
	case "in another store":
		s.Dir = filepath.Join(t.TempDir(), "another")
	default:
		t.Fatalf("no record is %s", state)
	}
}

func (s *subject) apply(t *testing.T, operation string) string {
	t.Helper()
	had := s.has()
	result, err := s.perform[operation](t.Context(), s.process())
	if operation == "delete" {
		switch has := s.has(); {
		case err != nil && had && !has:
			t.Errorf("it was refused, and nothing of it is left: %v", err)
		case err == nil && has:
			result = "orphaned"
		}
	}
	if err == nil {
		return result
	}
	var exists *record.ExistsError
	var lost *record.LostError
	switch {
	case errors.As(err, &exists):
		return "exists"
	case errors.As(err, &lost):
		return "lost"
	}
	for text, name := range map[string]string{
		"changed after this plan": "plan again", "deletion_protection": "protected", "begun and not finished": "unfinished",
		"was destroyed at": "destroyed", "has another": "another's", "is not managed by gpupool": "exists",
		"has no budget": "absent", "has no stock pool": "absent", "there is no spot pool": "absent",
	} {
		if strings.Contains(err.Error(), text) {
			return name
		}
	}
	return err.Error()
}

func readResult(recorded, destroyed bool) string {
	switch {
	case destroyed:
		return "gone"
	case recorded:
		return "recorded"
	}
	return "unrecorded"
}

func done(_ any, err error) (string, error)  { return "done", err }
func found(_ any, err error) (string, error) { return "found", err }

func spotPoolSubject(t *testing.T) *subject {
	t.Helper()
	w := reconciletest.NewWorld(t)
	declared := reconciletest.Pool(1, 2)
	d := w.MustCreateAs(declared)
	d.Generation = 3
	s := &subject{World: w, kind: "spot pool", key: store.Key{Kind: store.SpotPools, Name: d.Key()}}
	s.rewrite = func(phase declaration.Phase, generations int64, mark string) {
		r := d
		switch r.Generation += generations; mark {
		case "protected":
			r.DeletionProtection = true
		case "detached":
			r.OnDestroy = spotpool.DestroyRetain
		case "another's":
			r.UID = record.NewID()
		}
		rewrite(t, record.SpotPools(record.Repository{Store: w.Store(), Actor: "test"}), phase, r)
	}
	s.rewrite(declaration.Active, 0, "")
	id := w.Own()[0].InstanceID
	s.has = func() bool {
		return slices.ContainsFunc(w.Sim.Server.Instances(), func(i cvmsim.Instance) bool { return i.InstanceID == id && i.State == "RUNNING" })
	}
	s.perform = map[string]func(ctx context.Context, p reconcile.World) (string, error){
		"create": func(ctx context.Context, p reconcile.World) (string, error) {
			return done(p.SpotPools().Create(ctx, declared, reconciletest.LongWait))
		},
		"read": func(ctx context.Context, p reconcile.World) (string, error) {
			v, err := p.SpotPools().View(ctx, d)
			return readResult(v.Recorded, v.Destroyed), err
		},
		"update": func(ctx context.Context, p reconcile.World) (string, error) {
			return done(p.SpotPools().Update(ctx, d, reconciletest.LongWait))
		},
		"delete": func(ctx context.Context, p reconcile.World) (string, error) {
			_, err := p.SpotPools().Delete(ctx, d, reconciletest.LongWait)
			return "done", err
		},
		"import": func(ctx context.Context, p reconcile.World) (string, error) {
			return found(p.SpotPools().Find(ctx, d.Region, d.Name))
		},
	}
	return s
}

func budgetSubject(t *testing.T) *subject {
	t.Helper()
	w := reconciletest.NewWorld(t)
	w.Cluster = reconciletest.NewCluster()
	s := &subject{World: w, kind: "budget", has: func() bool { return false }}
	declared := budget.Declaration{
		Name: "team-a", GPUHours: "4", Window: "24h", Selector: budget.Selector{MatchLabels: map[string]string{"team": "a"}},
		Enforce: budget.Enforcement{Action: budget.AlertOnly, GracePeriod: "0s"},
	}.WithDefaults()
	state, err := s.process().Budgets().Create(t.Context(), declared)
	if err != nil {
		t.Fatal(err)
	}
	d := state.Declaration
	d.Generation = 3
	s.key = store.Key{Kind: store.Budgets, Name: d.Key()}
	s.rewrite = func(phase declaration.Phase, generations int64, mark string) {
		r := d
		if r.Generation += generations; mark == "another's" {
			r.UID = record.NewID()
		}
		rewrite(t, record.Budgets(record.Repository{Store: w.Store(), Actor: "test"}), phase, r)
	}
	s.rewrite(declaration.Active, 0, "")
	s.perform = map[string]func(ctx context.Context, p reconcile.World) (string, error){
		"create": func(ctx context.Context, p reconcile.World) (string, error) {
			return done(p.Budgets().Create(ctx, declared))
		},
		"read": func(ctx context.Context, p reconcile.World) (string, error) {
			v, err := p.Budgets().View(ctx, d)
			return readResult(v.Recorded, v.Destroyed), err
		},
		"update": func(ctx context.Context, p reconcile.World) (string, error) {
			return done(p.Budgets().Update(ctx, d))
		},
		"delete": func(ctx context.Context, p reconcile.World) (string, error) {
			return done(p.Budgets().Delete(ctx, d))
		},
		"import": func(ctx context.Context, p reconcile.World) (string, error) {
			return found(p.Budgets().Find(ctx, d.Name))
		},
	}
	return s
}

func stockPoolSubject(t *testing.T) *subject {
	t.Helper()
	w := reconciletest.NewWorld(t)
	w.Cluster = reconciletest.NewCluster()
	s := &subject{World: w, kind: "stock pool"}
	declared := stockpool.Declaration{
		Name: "pool-g1", Namespace: "ml", SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi", GPU: 1, Replicas: 2,
	}.WithDefaults()
	state, err := s.process().StockPools().Create(t.Context(), declared, 0)
	if err != nil {
		t.Fatal(err)
	}
	d := state.Declaration
	d.Generation = 3
	s.key = store.Key{Kind: store.StockPools, Name: d.Key()}
	s.rewrite = func(phase declaration.Phase, generations int64, mark string) {
		r := d
		switch r.Generation += generations; mark {
		case "protected":
			r.OnDestroy = stockpool.DestroyRetain
		case "another's":
			r.UID = record.NewID()
		}
		rewrite(t, record.StockPools(record.Repository{Store: w.Store(), Actor: "test"}), phase, r)
	}
	s.rewrite(declaration.Active, 0, "")
	s.has = func() bool { return w.Cluster.Deployment(d.Key()) != nil }
	s.perform = map[string]func(ctx context.Context, p reconcile.World) (string, error){
		"create": func(ctx context.Context, p reconcile.World) (string, error) {
			return done(p.StockPools().Create(ctx, declared, 0))
		},
		"read": func(ctx context.Context, p reconcile.World) (string, error) {
			v, err := p.StockPools().View(ctx, d)
			if v.Unfinished {
				return "unfinished", err
			}
			return readResult(v.Recorded, v.Destroyed), err
		},
		"update": func(ctx context.Context, p reconcile.World) (string, error) {
			return done(p.StockPools().Update(ctx, d, 0))
		},
		"delete": func(ctx context.Context, p reconcile.World) (string, error) {
			return done(p.StockPools().Delete(ctx, d, reconciletest.LongWait))
		},
		"import": func(ctx context.Context, p reconcile.World) (string, error) {
			return found(p.StockPools().Find(ctx, d.Namespace, d.Name))
		},
	}
	return s
}

func rewrite[D record.Declaration[D]](t *testing.T, life record.Lifecycle[D], phase declaration.Phase, d D) {
	t.Helper()
	old, err := life.Load(t.Context(), d.Key())
	if err == nil {
		_, err = life.Save(t.Context(), old, phase, d)
	}
	if err != nil {
		t.Fatal(err)
	}
}
