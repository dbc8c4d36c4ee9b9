package spotpool

// Gate says whether a pool's launches are held back, as an exceeded budget does.
type Gate struct {
	Closed bool `json:"closed"`
	// Unknown says that it is closed since what the budget has used is not known.
	Unknown bool `json:"-"`
	// Undeclared says that this is since there is no such budget.
	Undeclared bool `json:"-"`
	// Certain says that the budget is exceeded by what its status, which is of now, shows
	// for certain: no estimate, and nothing that was lost, decides that.
	Certain bool   `json:"certain,omitempty"`
	Reason  string `json:"reason"`
}
