package spotpool

// Counts are the numbers of a pool that decisions compare.
type Counts struct {
	Minimum   int `json:"minimum"`
	Maximum   int `json:"maximum"`
	Capacity  int `json:"capacity"`
	Held      int `json:"held"`
	Shortfall int `json:"shortfall"`
	// Wanted is how many the pool is to have now, where that is not minimum: 0 while its
	// exceeded budget drains it.
	Wanted   *int `json:"wanted,omitempty"`
	Outdated int  `json:"outdated"`
	// HourlyPrice is what the held instances cost at present prices; unknown
	// prices count as nothing.
	HourlyPrice Price `json:"hourly_price"`
}

// Missing is how many instances the pool lacks of those that it is to have.
func (c Counts) Missing() int {
	wanted := c.Minimum
	if c.Wanted != nil {
		wanted = *c.Wanted
	}
	return max(0, wanted-c.Capacity)
}
