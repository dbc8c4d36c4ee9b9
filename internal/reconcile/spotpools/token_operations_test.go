package spotpools_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// cutLaunch returns a pool with a token, whose update was killed before its launch.
func cutLaunch(w *world) spotpool.Declaration {
	d := w.mustJoinByToken(1, 3)
	d.Minimum = 3
	process := faults.Killed("Launch", false)
	_, _ = w.Pools(process).Update(context.Background(), d, reconciletest.LongWait)
	if !process.Dead() {
		w.t.Fatal("the update never came to its launch")
	}
	return d
}

// tokenOperations are those on pools whose machines join by a token.
func tokenOperations() []operation {
	withoutToken := func(d *spotpool.Declaration) { d.BootstrapToken, d.UserData = nil, "" }
	list := []operation{
		{
			name: "create with a token",
			prepare: func(w *world) spotpool.Declaration {
				w.Joining(0)
				return reconciletest.JoiningPool(2, 3)
			},
			do: create, again: createAgain,
			instances: 2, launches: 2,
		},
		{
			name: "reconcile with a token after a reclaim",
			prepare: func(w *world) spotpool.Declaration {
				d := w.mustJoinByToken(2, 3)
				w.CleanRuns()
				w.Reclaim(1)
				return d
			},
			do: reconcileOnce, again: noMore, short: true,
			instances: 2, launches: 3,
		},
		{
			name:    "reconcile after a launch with a token was cut",
			prepare: cutLaunch,
			do:      reconcileOnce, again: noMore, short: true,
			instances: 3, launches: 3,
		},
		{
			// Its Secret is deleted and made again: killed in between, it is made by the next.
			name: "reconcile long after a launch with a token was cut",
			prepare: func(w *world) spotpool.Declaration {
				d := cutLaunch(w)
				w.Cluster.Step(13 * time.Hour)
				return d
			},
			do: reconcileOnce, again: noMore, short: true,
			instances: 3, launches: 3,
		},
		{
			name:    "end of a token",
			prepare: func(w *world) spotpool.Declaration { return w.mustJoinByToken(2, 3) },
			do:      reconcileOnce, again: noMore,
			instances: 2, launches: 2,
		},
		{
			name: "destroy with a token that is valid still",
			prepare: func(w *world) spotpool.Declaration {
				w.Joining(0)
				w.Cluster.JoinNone(true)
				return w.MustCreateAs(reconciletest.JoiningPool(2, 3))
			},
			do: destroy, again: destroyAgain, gone: true,
			instances: 0, launches: 2,
		},
		{
			name: "detach with a token that is valid still",
			prepare: func(w *world) spotpool.Declaration {
				w.Joining(0)
				w.Cluster.JoinNone(true)
				d := reconciletest.JoiningPool(2, 3)
				d.OnDestroy = spotpool.DestroyRetain
				return w.MustCreateAs(d)
			},
			do: destroy, again: destroyAgain, gone: true,
			instances: 0, launches: 2,
		},
		{
			name:    "update that takes a token out",
			prepare: func(w *world) spotpool.Declaration { return w.mustJoinByToken(2, 3) },
			do:      update(withoutToken), again: updateAgain(withoutToken),
			instances: 2, launches: 2,
		},
	}
	for n, op := range list {
		again := op.again
		list[n].again = func(w *world, d spotpool.Declaration) {
			again(w, d)
			w.allJoin()
		}
	}
	return list
}

func noMore(*world, spotpool.Declaration) {}

// mustJoinByToken creates a pool whose machines join by a token, and waits until they
// did. The token is not ended yet.
func (w *world) mustJoinByToken(minimum, maximum int) spotpool.Declaration {
	w.t.Helper()
	w.Joining(0)
	d := w.MustCreateAs(reconciletest.JoiningPool(minimum, maximum))
	w.allJoin()
	return d
}

// allJoin has clean runs go on until each machine of the pool has joined.
func (w *world) allJoin() {
	w.t.Helper()
	missing := ""
	for range 200 {
		missing = ""
		for _, i := range w.Own() {
			if w.Cluster.Machine("node-"+i.InstanceID) == nil {
				missing = i.InstanceID
			}
		}
		if missing == "" {
			return
		}
		time.Sleep(5 * time.Millisecond)
		if len(w.Cluster.Tokens()) == 0 {
			w.CleanRuns()
		}
	}
	w.t.Errorf("%s never joined; its user data is %q, and the tokens are %v", missing, w.UserData(missing), w.Cluster.Tokens())
}

// TestAFaultOfATokenLosesNothing fails each call for tokens, before it took effect and after,
// once and for the whole operation. It also has the cluster unreachable for as long.
func TestAFaultOfATokenLosesNothing(t *testing.T) {
	t.Parallel()
	for _, op := range tokenOperations() {
		list := append(faults.Failing([]string{"CreateToken", "DeleteToken"}, faults.Once, faults.Lost, faults.Always),
			faults.Failing([]string{"UID", "Nodes"}, faults.Always)...)
		t.Run(op.name, func(t *testing.T) { t.Parallel(); op.cut().Play(t, list...) })
	}
}
