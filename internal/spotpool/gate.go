package spotpool

import "github.com/gpupool/terraform-provider-gpupool/internal/reason"

// Gate says whether a budget blocks a pool's launches.
type Gate struct {
	Closed bool `json:"closed"`
	// Unknown says that it is closed because the budget's usage is unknown.
	Unknown bool `json:"-"`
	// Undeclared says that it is unknown because the budget is not declared.
	Undeclared bool `json:"-"`
	// Certain says that the budget is exceeded according to a fresh status, without
	// estimates or lost intervals.
	Certain bool          `json:"certain,omitempty"`
	Reason  reason.Reason `json:"reason,omitzero"`
}
