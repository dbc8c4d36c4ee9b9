package cvmsim

// launchFate is what becomes of the instances of a launch.
type launchFate int

const (
	launchWorks launchFate = iota
	launchFails
	launchHangs
)
