package decide

import "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"

// Tally is what rules decided so far, for those after them. It is passed on by value.
type Tally struct {
	replicas int // how many pods the Deployment is to have now
	unheld   int // how many there would be if no budget held the pool
	// kept is why the pool shrinks less than it should; empty where it does not.
	kept       string
	begun      bool               // a run that was cut short had applied something
	undeclared []stockpool.Change // what others wrote of the Deployment, and an application leaves
	journal    stockpool.Journal
}
