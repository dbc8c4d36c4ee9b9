package spotpool

// Bounds are the declared numbers of a pool.
type Bounds struct {
	// The declared minimum.
	Minimum int `json:"minimum"`
	// The declared maximum.
	Maximum int `json:"maximum"`
}

// Bounds returns the declared minimum and maximum.
func (d Declaration) Bounds() Bounds { return Bounds{Minimum: d.Minimum, Maximum: d.Maximum} }

// Counts are the observed numbers of a pool.
type Counts struct {
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
}

// Missing returns how many of the desired instances the pool lacks.
func (b Bounds) Missing(c Counts) int {
	wanted := b.Minimum
	if c.Wanted != nil {
		wanted = *c.Wanted
	}
	return max(0, wanted-c.Capacity)
}
