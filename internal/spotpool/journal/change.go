package journal

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

// Open records a launch before it is requested.
func (j Journal) Open(l launches.Launch) Journal {
	j.Launches = j.Launches.Open(l)
	return j
}

// Retry records that a launch is requested again.
func (j Journal) Retry(sequence int64, now time.Time) Journal {
	j.Launches = j.Launches.Retry(sequence, now)
	return j
}

// Accept closes a launch that Tencent Cloud accepted, and records its instances.
func (j Journal) Accept(sequence int64, ids []string, at time.Time) Journal {
	if len(ids) == 0 {
		return j
	}
	s, e, closed := j.Launches.Accept(sequence, ids, at)
	if j.Launches = s; closed {
		j = j.recordEffect(e)
	}
	r := e.Request
	list := make([]fleet.Known, len(ids))
	for n, id := range ids {
		list[n] = fleet.Known{InstanceID: id, Market: r.Offering.Market(r.ChargeType), SubnetID: r.Offering.SubnetID, SeqTag: r.SeqTag, RecordedAt: e.At}
	}
	f, added := j.Record(list...)
	j.Fleet = f
	cost := spotpool.Cost{Price: e.Price, Currency: e.Currency}
	j.Prices = j.Prices.Launched(r.Offering.Market(r.ChargeType), cost, e.At)
	for _, k := range added {
		paid := cost
		if paid.Price == 0 {
			paid = j.Prices.Of(k.Market)
		}
		j = j.with(j.about(e.At).Instance(history.Begin, k.HistoryInstance(paid)))
	}
	return j
}

// recordEffect records a launch that took effect, and the instances of its token.
func (j Journal) recordEffect(e launches.Effect) Journal {
	j.Tokens = j.Tokens.For(e.Request.Sequence, e.InstanceIDs)
	return j.with(e.Event(j.about(e.At)))
}

// Refuse records that a call for a launch was refused, and returns the new state of the
// launch. If it is [launches.Refused], the cooldown of the refusal begins.
func (j Journal) Refuse(sequence int64, e *spotpool.CloudError, cooldown spotpool.Duration, now time.Time) (Journal, launches.State) {
	s, l, state := j.Launches.Refuse(sequence, e, now)
	j.Launches = s
	if c, ok := markets.ForRefusal(l.Request, e, now.Add(time.Duration(cooldown))); ok && state == launches.Refused {
		j.Cooldowns = j.Cooldowns.Add(c)
	}
	return j, state
}

// Adopt records instances that were adopted.
func (j Journal) Adopt(instances []spotpool.Instance, now time.Time) Journal {
	list := make([]fleet.Known, len(instances))
	for n, i := range instances {
		list[n] = fleet.Known{InstanceID: i.ID, Market: i.Market(), SubnetID: i.SubnetID, SeqTag: i.SeqTag, RecordedAt: now, Seen: true}
	}
	f, added := j.Record(list...)
	j.Fleet = f
	var ids []string
	for _, k := range added {
		ids = append(ids, k.InstanceID)
	}
	if len(ids) == 0 {
		return j
	}
	if j.Baseline > 0 { // else the next update counts all instances
		j.Baseline += len(ids)
	}
	return j.with(j.about(now).Instances(history.Adopt, ids...))
}

// Terminate records that the termination of these instances is requested.
func (j Journal) Terminate(ids []string, now time.Time, reasons ...reason.Reason) Journal {
	return j.withFleet(j.Fleet.Terminate(j.about(now, reasons...), ids))
}

// Detach forgets instances that were detached from the pool.
func (j Journal) Detach(ids []string, now time.Time) Journal {
	f, detached := j.Fleet.Detach(ids)
	j.Fleet = f
	for _, k := range detached {
		j = j.with(j.about(now, reason.KeepsRunning()).Instance(history.Detach, k.HistoryInstance(j.Prices.Of(k.Market))))
	}
	return j
}

// RequestDrain records that a node will be drained before its instance is terminated.
func (j Journal) RequestDrain(d spotpool.Decision, now time.Time) Journal {
	return j.withFleet(j.Fleet.RequestDrain(j.about(now), d))
}

// RecordDrain records what an attempt at a drain showed.
func (j Journal) RecordDrain(id string, p node.Progress, how spotpool.Drain, now time.Time) Journal {
	return j.withFleet(j.Fleet.RecordDrain(j.about(now), id, p, how))
}

// RestartDrain records that a node had changed since its drain.
func (j Journal) RestartDrain(id string, p node.Progress, now time.Time) Journal {
	return j.withFleet(j.Fleet.RestartDrain(j.about(now), id, p))
}

// RecordUncordon records that a node was uncordoned.
func (j Journal) RecordUncordon(id string, now time.Time) Journal {
	return j.withFleet(j.Fleet.RecordUncordon(j.about(now), id))
}

// Replace records which instances are replaced, or no longer are, and the cooldowns of their markets.
func (j Journal) Replace(changes []fleet.Replacement, cooldowns markets.Cooldowns) Journal {
	for _, c := range cooldowns {
		j.Cooldowns = j.Cooldowns.Add(c)
	}
	for _, c := range changes {
		if _, found := j.Of(c.InstanceID); found && c.Early {
			j.EarlyFailures = j.EarlyFailures.Failed(c.Configuration, c.InstanceID, c.Since)
		}
	}
	return j.withFleet(j.Fleet.Replace(j.about(time.Time{}), changes))
}
