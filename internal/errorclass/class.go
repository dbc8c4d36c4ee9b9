// Package errorclass names the classes of errors of Tencent Cloud and Kubernetes: what can be done
// about them. The callers assign the classes.
package errorclass

// Class groups errors by their remedy.
type Class string

// The classes of errors.
const (
	Capacity      Class = "capacity"      // no stock: use another offering, or wait
	Price         Class = "price"         // the cap is below the market
	Quota         Class = "quota"         // the account's limit: vCPUs, instances, balance
	Configuration Class = "configuration" // the declaration must change, or the setup of gpupool or the cluster
	Authorisation Class = "authorisation" // credentials or permissions must change
	Transient     Class = "transient"     // retry later
)
