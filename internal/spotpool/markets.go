package spotpool

import "fmt"

// Markets is what the cloud sells in a region, and how much of it the account
// may still have, at one time.
type Markets struct {
	Offers []Offer
	// SpotVCPUs is how many vCPUs the account may still launch as spot
	// instances, by zone; nil where that is unknown.
	SpotVCPUs map[string]int
	// QuotaUnknown says why SpotVCPUs is nil. Launches then go by price and
	// stock alone, and learn of the quota by being refused.
	QuotaUnknown error
}

// QuotaWarning says for people that the region's spot quota is unknown, and
// why; empty where it is known.
func (m Markets) QuotaWarning(region string) string {
	if m.QuotaUnknown == nil {
		return ""
	}
	return fmt.Sprintf("the spot quota of %s is unknown: %v", region, m.QuotaUnknown)
}
