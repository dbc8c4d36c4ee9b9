package spotpool

// Counts are the numbers of a pool that decisions compare.
type Counts struct {
	// The declared minimum.
	Minimum int `json:"minimum"`
	// The declared maximum.
	Maximum int `json:"maximum"`
	// Instances that work, or will soon.
	Capacity int `json:"capacity"`
	// All instances and pending launches. The maximum limits this number.
	Total int `json:"total"`
	// Instances missing to the desired number.
	Shortfall int `json:"shortfall"`
	// The desired number if it is not the minimum: 0 while the exceeded budget drains the pool.
	Wanted *int `json:"wanted,omitempty"`
	// Instances with another configuration than the declared one.
	Drifted int `json:"drifted"`
	// The hourly price of all instances. Null if unknown.
	HourlyPrice Price `json:"hourly_price"`
	// The currency of the pool's prices. Absent if unknown.
	Currency Currency `json:"currency,omitempty"`
}

// Cost returns the hourly price of all instances.
func (c Counts) Cost() Cost { return Cost{Price: c.HourlyPrice, Currency: c.Currency} }

// Missing returns how many of the desired instances the pool lacks.
func (c Counts) Missing() int {
	wanted := c.Minimum
	if c.Wanted != nil {
		wanted = *c.Wanted
	}
	return max(0, wanted-c.Capacity)
}
