// Package errorclass names the classes of errors of Tencent Cloud and Kubernetes: what can be done
// about them. The callers assign the classes.
package errorclass

// Class is the class of an error of Tencent Cloud or Kubernetes, by its remedy.
type Class string

// The classes of errors.
const (
	Capacity      Class = "capacity"      // no stock: use another offering, or wait
	Price         Class = "price"         // the maximum price is below the market price: raise `spot_max_price`, or wait
	Quota         Class = "quota"         // the account's limit or balance: open a ticket, or add funds
	Configuration Class = "configuration" // the declaration must change, or the setup of gpupool or the cluster
	Authorization Class = "authorization" // credentials or permissions must change
	Transient     Class = "transient"     // throttled, or no response: the next run tries again
)

// Classes returns all classes.
func Classes() []Class {
	return []Class{Capacity, Price, Quota, Configuration, Authorization, Transient}
}
