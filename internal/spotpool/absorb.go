package spotpool

import (
	"fmt"
	"slices"
	"time"
)

// tagLag bounds how long the tags of a launch may stay incomplete. The cloud
// attaches tags after it creates instances (Tencent CVM, RunInstances,
// TagSpecification) and names no bound; this is far above what is seen.
const tagLag = 10 * time.Minute

// absorb brings the journal up to date with what was seen: it closes intents
// whose instances are there, learns new ids, notices reclaims and failed
// launches, and drops what is over. Absorbing the same twice changes nothing.
// The strings say, for people, what was noticed.
func absorb(d Declaration, j Journal, own []Instance, now time.Time) (Journal, []string) {
	j = j.Clone()
	var notices []string
	seen := make(map[string]Instance, len(own))
	bySequence := map[int64][]string{}
	for _, i := range own {
		seen[i.ID] = i
		if i.Sequence > 0 {
			bySequence[i.Sequence] = append(bySequence[i.Sequence], i.ID)
			// Where the journal was lost, sequences go on above the tags'.
			j.LastSequence = max(j.LastSequence, i.Sequence)
		}
	}
	j.Cooldowns = slices.DeleteFunc(j.Cooldowns, func(c Cooldown) bool { return !now.Before(c.Until) })
	for _, intent := range slices.Clone(j.Intents) {
		ids := bySequence[intent.Request.Sequence]
		if len(ids) >= intent.Request.Count || len(ids) > 0 && now.Sub(intent.WrittenAt) > tagLag {
			j = j.Accepted(intent.Request.Sequence, ids)
		}
	}
	for _, i := range own {
		j = j.know(Known{InstanceID: i.ID, Market: i.market(), RecordedAt: now})
	}
	kept := j.Known[:0:0]
	for _, k := range j.Known {
		i, there := seen[k.InstanceID]
		if !k.Ended {
			cause, notice := ending(i, there, k)
			if cause != "" {
				k.Ended = true
				notices = append(notices, notice)
				j = j.cool(Cooldown{Market: k.Market, Cause: cause, Detail: k.InstanceID, Until: now.Add(time.Duration(d.Cooldown))})
			}
		}
		if !there {
			continue
		}
		switch {
		case i.State != StateStarting && i.State != StateRebooting:
			k.UnsettledSince = time.Time{}
		case k.UnsettledSince.IsZero():
			k.UnsettledSince = now
		}
		kept = append(kept, k)
	}
	j.Known = kept
	return j, notices
}

// ending says whether a recorded instance has ended without being asked to.
func ending(i Instance, there bool, k Known) (CooldownCause, string) {
	switch {
	case !there:
		return CausedByReclaim, fmt.Sprintf("%s (%s in %s) is gone: reclaimed by the cloud, or ended by someone else", k.InstanceID, k.InstanceType, k.AvailabilityZone)
	case i.State == StateLaunchFailed:
		return CausedByLaunchFailed, fmt.Sprintf("%s (%s in %s) failed to launch: %s", i.ID, i.InstanceType, i.AvailabilityZone, orUnknown(i.OperationError))
	case i.State == StateTerminating || i.State == StateShutdown:
		return CausedByReclaim, fmt.Sprintf("%s (%s in %s) is %s: being reclaimed by the cloud, or ended by someone else", i.ID, i.InstanceType, i.AvailabilityZone, i.State)
	}
	return "", ""
}

func orUnknown(s string) string {
	if s == "" {
		return "the cloud gave no reason"
	}
	return s
}

func (i Instance) market() Market {
	return Market{AvailabilityZone: i.AvailabilityZone, InstanceType: i.InstanceType, ChargeType: i.ChargeType}
}
