package cvmsim

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/control"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// What a server's methods take and return.
type (
	Duration = world.Duration

	// Fault is something that goes wrong on request, Call the record of a call.
	Fault = api.Fault
	Call  = api.Record

	Instance       = control.Instance
	SeedRequest    = control.SeedRequest
	StateRequest   = control.StateRequest
	ReclaimRequest = control.ReclaimRequest
	StockRequest   = control.StockRequest
	PriceRequest   = control.PriceRequest
	Settings       = control.Settings
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

// What a reclaimed instance looks like.
const (
	ViewVanish      = world.ViewVanish
	ViewTerminating = world.ViewTerminating
	ViewShutdown    = world.ViewShutdown
)

// ControlHelp documents the control surface, for people.
func ControlHelp() string { return control.Help() }
