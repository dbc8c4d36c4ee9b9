package conservation_test

import "strings"

// The promises. The first ones are checked at the calls that could break them, in this file and
// next to the calls. Those of checks are checked after each run.
const (
	promiseReadyNode  = "no Ready Node is deleted"
	promiseDrained    = "no instance whose Node is Ready is terminated without a finished or timed-out drain of that Node"
	promiseDisruption = "nothing a disruption budget protects ends before the observed drain timeout"
	promiseReadyLeft  = "replacing instances that work leaves minimum less max_unavailable Ready nodes"
	promisePatience   = "a node is replaced only once it was observed not Ready for unhealthy_timeout"
	promiseSuspended  = "while many nodes fail at once, none is replaced or drained"
	promiseResumes    = "replacing is suspended only while several nodes of declared pools fail"
	promiseEnds       = "an instance of a destroyed pool whose node is drained is terminated"
	promiseSurplus    = "a surplus that replacements left is gone after surplus_after"
	promiseCordons    = "no cordon outlives a destroy"
	promiseReported   = "every instance that carries a pool's uid is in some report"
	promiseUsage      = "usage of pods that run is never 0"
	promiseUnknown    = "nothing is launched, resumed, unfrozen or scaled up while its budget is used up in truth"
	promiseMaximum    = "launches never exceed maximum"
	promiseCap        = "no launch has a pool cost more than its max_hourly_cost, at the last prices"
	promiseDeleted    = "each pod of a reclaimed node got its deletion before, if the notice was seen in time"
	promiseOnce       = "one shortfall is launched once"
	promiseNewer      = "an older state never passes over a newer record's protection"
	promiseStore      = "a destroy fails against a store that does not know the object"
	promiseProtected  = "no pod that says it is protected ends by a budget"
	promiseOneWay     = "one run never both pauses and resumes a stock pool"
	promiseWeight     = "a stock pool is paused only by a budget that counts its pods and is used up"
	promiseForeign    = "foreign instances, nodes and Deployments are untouched"
	promisePaused     = "nothing reads as paused while its pods run"
	promiseNamed      = "each GPU pod of an exceeded, enforcing budget is acted upon, waited for, or listed in its status"
	promiseJobs       = "a run starts one Job of a CronJob that runs one at a time"
	promiseTimely     = "what has no effect is waited for no longer than is stated"
	promiseOrphans    = "an orphaning delete of a stock pool's Deployment ends no running pod"
)

// checks are made after each run.
var checks = []struct {
	promise string
	broken  func(w *world, o observed)
}{
	{promiseReported, (*world).unreported},
	{promiseUsage, (*world).uncounted},
	{promisePaused, (*world).stillRunning},
	{promiseNamed, (*world).unnamed},
	{promiseJobs, (*world).crowds},
	{promiseTimely, (*world).overdue},
	{promisePatience, (*world).replacements},
	{promiseEnds, (*world).unended},
	{promiseResumes, (*world).suspensions},
	{promiseCordons, (*world).leftCordoned},
}

func (w *world) check(o observed) {
	for _, c := range checks {
		c.broken(w, o)
	}
}

func (w *world) poolOf(uid string) *pool {
	for _, p := range w.pools {
		if p.uid() == uid {
			return p
		}
	}
	return nil
}

// unreported finds instances of a pool that no report mentions.
func (w *world) unreported(o observed) {
	if !o.whole {
		return
	}
	text := o.text()
	w.cloud.mu.Lock()
	defer w.cloud.mu.Unlock()
	w.cloud.pass()
	for _, m := range w.cloud.machines {
		p := w.poolOf(m.PoolUID)
		if p == nil || !m.alive() {
			continue
		}
		d := p.now()
		told := strings.Contains(text, m.ID) || strings.Contains(text, m.PoolUID)
		for _, r := range o.report.SpotPools {
			told = told || r.Name == d.Name
		}
		for _, warning := range o.report.Warnings {
			told = told || strings.Contains(warning.String(), d.Name)
		}
		if !told {
			w.violated(promiseReported, "%s of %s", m.ID, d.Key())
		}
	}
}
