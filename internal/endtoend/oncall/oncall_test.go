package oncall

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// incident is what happens to the pool train, or the budget team-a, among thirty healthy pools,
// and the command that the operator then runs.
type incident struct {
	name string
	// play returns the scene at the time of that command.
	play func(t *testing.T, template string) *scene
	ask  string
	// cause and remedy must be on the first screen.
	cause, remedy string
}

var incidents = []incident{
	{"credentials_revoked", credentialsRevoked, "status", `AuthFailure\.SecretIdNotFound`, `must be active`},
	{"sold_out", soldOut, "status", `sold out`, `add offerings in other zones`},
	{"quota_gone", quotaGone, "status", `quota`, `higher quota`},
	{"price_above_cap", priceAboveCap, "status", `spot_max_price`, `Raise spot_max_price`},
	{"hourly_cap", hourlyCap, "status", `max_hourly_cost`, `Raise max_hourly_cost`},
	{"reclaim_at_night", reclaimAtNight, "history --since 9h", `lost +spot_pool/train`, `launch +spot_pool/train`},
	{"run_killed", runKilled, "status", `was killed`, `the next run`},
	{"creation_killed", creationKilled, "status", `Creating`, `terraform apply`},
	{"disk_full", diskFull, "status", `file too large`, `Free space there`},

	{"budget_exceeded", budgetExceeded, "status", `by app: notebook-0`, `gpupool grant`},
	{"freeze_lasts", freezeThatLasts, "status", `Exceeded,Frozen .* recovers: in nn`, `gpupool grant`},
	{"ledger_lost", ledgerLost, "status", `ledger was lost`, `Restore the ledger.s documents from a copy.*--accept-loss`},
	{"status_too_old", statusTooOld, "status", `the cluster cannot be reached`, `Check the address`},
	{"eviction_at_night", evictionAtNight, "history --since 9h", `evict +budget/team-a .*notebook-0`, `exceeded +budget/team-a`},
	{"wrong_cluster", wrongCluster, "status", `belongs to another cluster`, `Use the kubeconfig`},
	{"lock_left", lockLeft, "status", `has not renewed its lock`, `the lock expires`},
}

func TestOnCall(t *testing.T) {
	t.Parallel()
	template := newTemplate(t)
	for _, i := range incidents {
		t.Run(i.name, func(t *testing.T) {
			t.Parallel()
			s := i.play(t, template)
			check(t, i.name, i.ask, normal(s.screen(strings.Fields(i.ask)...), s.now().Before(night.AddDate(-1, 0, 0))), i.cause, i.remedy)
		})
	}
}

func (s *scene) train(changes ...func(*spotpool.Declaration)) {
	s.t.Helper()
	s.apply(pool("train", 2, 4, changes...))
}

// trainShort is a night on which the pool train lost an instance at two, and runs could not
// replace it.
func trainShort(t *testing.T, template string, happens func(*scene), changes ...func(*spotpool.Declaration)) *scene {
	t.Helper()
	s := newNight(t, template)
	s.train(changes...)
	happens(s)
	s.reclaim()
	s.runs(3, 0)
	return s
}

func credentialsRevoked(t *testing.T, template string) *scene {
	s := newNight(t, template)
	s.fault(cvmsim.Fault{
		Kind: cvmsim.FaultError, Action: "*", Count: -1, Code: "AuthFailure.SecretIdNotFound",
		Message: "The SecretId is not found, please ensure that your SecretId is correct.",
	})
	s.runs(3, 1)
	return s
}

func soldOut(t *testing.T, template string) *scene {
	return trainShort(t, template, func(s *scene) { s.soldOut(zoneA, zoneB) })
}

func quotaGone(t *testing.T, template string) *scene {
	return trainShort(t, template, func(s *scene) {
		quota := int64(0)
		for _, zone := range []string{zoneA, zoneB} {
			if err := s.sim.Server.SetStock(cvmsim.StockRequest{AvailabilityZone: zone, InstanceType: gpuType, VCPUQuota: &quota}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func priceAboveCap(t *testing.T, template string) *scene {
	return trainShort(t, template, func(s *scene) { s.price("4.20") }, func(d *spotpool.Declaration) {
		for n := range d.Offerings {
			d.Offerings[n].SpotMaxPrice = price(t, "2.50")
		}
	})
}

func hourlyCap(t *testing.T, template string) *scene {
	return trainShort(t, template, func(s *scene) { s.price("4.20") }, func(d *spotpool.Declaration) { d.MaxHourlyCost = price(t, "5") })
}

func price(t *testing.T, text string) spotpool.Price {
	t.Helper()
	p, err := spotpool.ParsePrice(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func reclaimAtNight(t *testing.T, template string) *scene {
	s := newScene(t, template)
	s.pass(night.Add(-12 * time.Hour).Sub(s.now()))
	s.train()
	s.pass(night.Sub(s.now()))
	s.runs(1, 0)
	s.soldOut(zoneA)
	s.reclaim()
	s.runs(2, 0)
	s.pass(6 * time.Hour)
	return s
}

func runKilled(t *testing.T, template string) *scene {
	s := newNight(t, template)
	s.train()
	s.runs(3, 0)
	s.reclaim()
	s.kill("gpupool", "reconcile")
	s.dateLock()
	s.pass(5 * every)
	return s
}

func creationKilled(t *testing.T, template string) *scene {
	s := newNight(t, template)
	s.kill("apply", string(mustJSON(pool("train", 2, 4))))
	s.runs(2, 0)
	return s
}

// diskFull limits files in place of the disk, for which no room has to be used up.
func diskFull(t *testing.T, template string) *scene {
	s := newNight(t, template)
	s.train()
	s.runs(3, 0)
	s.reclaim()
	s.full = true
	s.runs(3, 1)
	return s
}
