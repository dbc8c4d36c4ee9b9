package decide

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Tally counts the decisions of earlier rules. It is passed by value.
type Tally struct {
	replicas int // how many pods the Deployment must have now
	unheld   int // how many without the limits of budgets
	// kept is why the pool shrinks less than it should
	kept       reason.Reason
	begun      bool               // an interrupted run had applied something
	undeclared []stockpool.Change // foreign fields of the Deployment that an application leaves
	journal    stockpool.Journal
}
