package world

// Quota is the account's quota in a zone.
type Quota struct {
	Zone string
	// SpotVCPU limits the cores of spot instances, HourlyInstances the count
	// of pay-as-you-go instances.
	SpotVCPU, HourlyInstances int64
}

const (
	defaultSpotVCPU        = 50 // Tencent Cloud's default for a new account
	defaultHourlyInstances = 500
)

func initialQuota(zoneID string) *Quota {
	q := &Quota{Zone: zoneID, SpotVCPU: defaultSpotVCPU, HourlyInstances: defaultHourlyInstances}
	if zoneID == "ap-singapore-2" || zoneID == "ap-singapore-3" {
		q.SpotVCPU = 128
	}
	return q
}

// Usage is how much of a zone's quota instances use.
type Usage struct{ SpotVCPU, HourlyInstances, PrepaidInstances int64 }

// Quotas contains the quotas that differ from the initial ones, and the usage of all, by zone.
type Quotas struct {
	table[Quota]
	usage map[string]Usage
}

// Quota returns the account's quota in a zone.
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

// Used returns how much of a zone's quota instances use.
func (s *Quotas) Used(zoneID string) Usage { return s.usage[zoneID] }

// count adds an instance to the zone's usage, or removes it with -1.
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
