package api

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

var versions = map[string]string{"cvm": "2017-03-12", "tag": "2018-08-13", "sts": "2018-08-13"}

// Action is one operation of the API. Names are unique over the services.
type Action struct {
	Name, Service string
	Rate          float64 // calls a second

	version  string
	regional bool // needs a region
	unsigned bool // may be called with Authorization: SKIP
	// prepare converts the parameters and returns the call.
	prepare func(params map[string]any) (prepared, *wire.Error)
}

type prepared struct {
	params any
	run    func(w *world.World, c *Call) (any, *wire.Error)
}

// Operation returns an action that calls a function with typed parameters.
func Operation[P, R any](service, name string, rate float64, run func(*world.World, *Call, *P) (*R, *wire.Error)) *Action {
	return &Action{
		Name: name, Service: service, Rate: rate, version: versions[service], regional: service == "cvm",
		prepare: func(tree map[string]any) (prepared, *wire.Error) {
			params := new(P)
			if err := wire.Bind(tree, params); err != nil {
				return prepared{}, wire.ParameterError(err)
			}
			return prepared{params: params, run: func(w *world.World, c *Call) (any, *wire.Error) { return run(w, c, params) }}, nil
		},
	}
}

// WithoutSignature marks an action that needs no signature.
func (a *Action) WithoutSignature() *Action { a.unsigned = true; return a }

// Call is one API call while it runs.
type Call struct {
	Region    string
	Now       time.Time // of the world
	RequestID string
	Identity  wire.Identity // the signer
	Account   wire.Account
	Fate      world.Fate // of the instances that it launches
	Record    *Record
}

// TookEffect records that the call changed the world, and these instances.
func (c *Call) TookEffect(instanceIDs ...string) {
	c.Record.InstanceIDs = append(c.Record.InstanceIDs, instanceIDs...)
	c.Record.TookEffect = true
}

// Empty is the response of actions without output.
type Empty struct{}
