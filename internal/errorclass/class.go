// Package errorclass names the classes of errors: what a person or a run can do about
// them, whoever refused, the cloud or a cluster. Which error is of which class is for
// those to say who ask these.
package errorclass

// Class groups errors by what helps.
type Class string

// The classes of errors.
const (
	Capacity      Class = "capacity"      // none left here: another offering, or later
	Price         Class = "price"         // the cap is below the market
	Quota         Class = "quota"         // the account may not have more: vCPUs, instances, balance
	Configuration Class = "configuration" // the declaration must change, or how gpupool or the cluster is set up
	Authorisation Class = "authorisation" // credentials or permissions must change
	Transient     Class = "transient"     // the same again, later
)
