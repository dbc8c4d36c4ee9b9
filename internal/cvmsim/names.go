package cvmsim

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/control"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// The types of the parts that a server's methods take and return.
type (
	// Duration is a time.Duration that is written as text.
	Duration = world.Duration
	// Fault is a failure on request.
	Fault = api.Fault
	// Call is the record of one API call.
	Call = api.Record
	// Instance is an instance as the control surface shows it.
	Instance = control.Instance
	// SeedRequest creates instances.
	SeedRequest = control.SeedRequest
	// StateRequest changes the visible state of instances.
	StateRequest = control.StateRequest
	// ReclaimRequest reclaims spot instances.
	ReclaimRequest = control.ReclaimRequest
	// StockRequest changes stock and quota.
	StockRequest = control.StockRequest
	// PriceRequest changes a price.
	PriceRequest = control.PriceRequest
	// Settings are the options that can change while the server runs.
	Settings = control.Settings
)

// Kinds of faults.
const (
	FaultThrottle       = api.FaultThrottle
	FaultError          = api.FaultError
	FaultSoldOut        = api.FaultSoldOut
	FaultLaunchFailed   = api.FaultLaunchFailed
	FaultLaunchHangs    = api.FaultLaunchHangs
	FaultHTTP502        = api.FaultHTTP502
	FaultHTTP502After   = api.FaultHTTP502After
	FaultBadJSON        = api.FaultBadJSON
	FaultSlow           = api.FaultSlow
	FaultTimeoutAfter   = api.FaultTimeoutAfter
	FaultTimeout        = api.FaultTimeout
	FaultResetAfter     = api.FaultResetAfter
	FaultResetBefore    = api.FaultResetBefore
	FaultSlowAcceptance = api.FaultSlowAcceptance
	FaultSlowAnswer     = api.FaultSlowAnswer
)

// The visible states of a reclaimed instance.
const (
	ViewVanish      = world.ViewVanish
	ViewTerminating = world.ViewTerminating
	ViewShutdown    = world.ViewShutdown
)

// ControlHelp documents the control surface, for people.
func ControlHelp() string { return control.Help() }
