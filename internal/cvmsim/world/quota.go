package world

// Quota is what the account may hold in a zone.
type Quota struct {
	Zone string
	// SpotVCPU limits the cores of spot instances, HourlyInstances the count
	// of pay-as-you-go instances.
	SpotVCPU, HourlyInstances int64
}

const (
	defaultSpotVCPU        = 50 // the cloud's own default for a new account
	defaultHourlyInstances = 500
)

func initialQuota(zoneID string) *Quota {
	q := &Quota{Zone: zoneID, SpotVCPU: defaultSpotVCPU, HourlyInstances: defaultHourlyInstances}
	if zoneID == "ap-singapore-2" || zoneID == "ap-singapore-3" {
		q.SpotVCPU = 128
	}
	return q
}

// Usage is what instances hold of a zone's quota.
type Usage struct{ SpotVCPU, HourlyInstances, PrepaidInstances int64 }

// Quotas has the quotas that differ from those of the start, and what is used of
// all, by zone.
type Quotas struct {
	table[Quota]
	usage map[string]Usage
}

// Quota is what the account may hold in a zone.
func (s *Quotas) Quota(zoneID string) *Quota {
	if q := s.Get(zoneID); q != nil {
		return q
	}
	return initialQuota(zoneID)
}

// Change applies a change to the quota of a zone.
func (s *Quotas) Change(zoneID string, change func(*Quota)) {
	q := s.Quota(zoneID)
	change(q)
	s.Put(zoneID, q)
}

// Used is what instances hold of a zone's quota.
func (s *Quotas) Used(zoneID string) Usage { return s.usage[zoneID] }

// count adds an instance to the zone's usage, or with -1 takes it away.
func (s *Quotas) count(in *Instance, sign int64) {
	u := s.usage[in.Zone]
	switch in.ChargeType {
	case ChargeSpot:
		u.SpotVCPU += sign * TypeByName[in.Type].CPU
	case ChargeHourly:
		u.HourlyInstances += sign
	case ChargePrepaid:
		u.PrepaidInstances += sign
	}
	s.usage[in.Zone] = u
}
