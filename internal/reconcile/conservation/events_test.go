package conservation_test

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// event is something that may happen to a world. Which and how choose what it happens to,
// and its kind; where there is nothing of that sort, nothing happens.
type event struct {
	name string
	do   func(w *world, which, how int)
}

// themes are lists of events, of which a schedule draws: a world in which everything may
// happen shows little of what takes several steps.
var themes = map[string][]event{
	"drains": {
		{"nothing", func(*world, int, int) {}},
		{"reclaim", (*world).reclaim},
		{"notice", (*world).notice},
		{"notice", (*world).notice},
		{"node made again", (*world).remake},
		{"node deleted", (*world).deleteNode},
		{"API server", (*world).apiServer},
		{"size", (*world).size},
		{"destroy", (*world).destroy},
		{"nodes given up", (*world).giveUpNodes},
		{"quiet", (*world).quiet},
	},
	"health": {
		{"nothing", func(*world, int, int) {}},
		{"readiness", (*world).readiness},
		{"many fail", (*world).manyFail},
		{"many fail", (*world).manyFail},
		{"image", (*world).image},
		{"image", (*world).image},
		{"detach", (*world).detach},
		{"quiet", (*world).quiet},
		{"clocks", func(w *world, _, how int) { w.cluster.clocksOff = how%2 == 0 }},
		{"API server", (*world).apiServer},
		{"reclaim", (*world).reclaim},
	},
	"stock": {
		{"nothing", func(*world, int, int) {}},
		{"pod marked", func(w *world, which, how int) { w.markStock(which, how, budget.ProtectedKey) }},
		{"pod in use", func(w *world, which, how int) { w.markStock(which, how, "session") }},
		{"relabel", (*world).relabel},
		{"relabel", (*world).relabel},
		{"orphaning delete", (*world).orphan},
		{"scale", (*world).scaleStock},
		{"tenant", (*world).scaleTenant},
		{"stuck", (*world).stick},
		{"limit", (*world).changeLimit},
		{"limit", (*world).changeLimit},
		{"grant", (*world).grant},
		{"replicas", (*world).replicas},
		{"destroy stock", (*world).destroyStock},
		{"API server", (*world).apiServer},
	},
	"store": {
		{"nothing", func(*world, int, int) {}},
		{"loss", (*world).lose},
		{"loss", (*world).lose},
		{"loss of a journal", (*world).loseJournal},
		{"size", (*world).size},
		{"tags", func(w *world, _, how int) { w.cloud.tagsLate = how%2 == 0 }},
		{"prices", (*world).prices},
		{"tenant", (*world).scaleTenant},
		{"reclaim", (*world).reclaim},
		{"limit", (*world).changeLimit},
		{"grant", (*world).grant},
	},
	"tenants": {
		{"nothing", func(*world, int, int) {}},
		{"tenant", (*world).scaleTenant},
		{"tenant", (*world).scaleTenant},
		{"stuck", (*world).stick},
		{"webhook", (*world).refuse},
		{"autoscaler", (*world).autoscale},
		{"CronJob resumed", (*world).resumeCronJob},
		{"limit", (*world).changeLimit},
		{"limit", (*world).changeLimit},
		{"grant", (*world).grant},
		{"API server", (*world).apiServer},
	},
	"terraform": {
		{"nothing", func(*world, int, int) {}},
		{"protect", (*world).protect},
		{"stale destroy", (*world).staleDestroy},
		{"stale update", (*world).staleUpdate},
		{"prices", (*world).prices},
		{"destroy in another store", (*world).destroyElsewhere},
		{"destroy", (*world).destroy},
		{"destroy stock", (*world).destroyStock},
		{"size", (*world).size},
		{"hold", (*world).hold},
		{"sold out", func(w *world, _, how int) { w.cloud.soldOut = how%2 == 0 }},
	},
}

// pick is one of a list, by a number; the zero value if the list is empty.
func pick[T any](list []T, which int) (one T, ok bool) {
	if len(list) == 0 {
		return one, false
	}
	return list[which%len(list)], true
}
