// Package api has the operations of the HTTP API. Their JSON is that of the CLI; the OpenAPI
// document follows from the types.
package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/jobs"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
)

// Path is the path below which the API is.
const Path = "/api/v1"

// Options are what the API needs.
type Options struct {
	Source  *snapshot.Source
	Version string
	// Jobs keeps requests; nil without any.
	Jobs Jobs
	// Submitted is called after a request was queued; it may be nil.
	Submitted func()
}

// Add adds the operations to a mux, and returns their description.
func Add(mux *http.ServeMux, o Options) *huma.OpenAPI {
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "gpupool", Version: o.Version,
				Description: "Spot pools, budgets and stock pools: their state, and requests that the next reconcile run does.",
			},
			Components: &huma.Components{Schemas: newRegistry(), SecuritySchemes: map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}},
			Security:   []map[string][]string{{"token": {}}, {}},
		},
		OpenAPIPath: Path + "/openapi", Formats: formats(), DefaultFormat: "application/json", RejectUnknownQueryParameters: true,
	}
	config.AllowAdditionalPropertiesByDefault = true // fields are added within a version
	a := &api{API: humago.New(mux, config), Options: o}
	a.addHealth()
	a.addStatus()
	a.addDetails()
	if a.Jobs != nil {
		a.addRequests()
		a.addReplaced()
	}
	finish(a.OpenAPI())
	return a.OpenAPI()
}

type api struct {
	huma.API
	Options
}

// patience is how long a reader waits for an observation.
const patience = 20 * time.Second

// answer is a response with a body.
type answer[T any] struct{ Body T }

// get adds an operation that reads.
func get[I, T any](a *api, path, id, summary string, read func(ctx context.Context, in *I) (T, error)) {
	huma.Register(a.API, huma.Operation{
		Method: http.MethodGet, Path: Path + path, OperationID: id, Summary: summary, Errors: []int{http.StatusUnauthorized, http.StatusForbidden,
			http.StatusNotFound, http.StatusServiceUnavailable},
	}, func(ctx context.Context, in *I) (*answer[T], error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		value, err := read(ctx, in)
		if err != nil {
			return nil, problemOf(ctx, err)
		}
		return &answer[T]{value}, nil
	})
}

// The errors about rights.
var (
	errForbidden    = errors.New("this user may not read it: ask for the right to read all namespaces")
	errMayNotChange = errors.New("this user may not request it: ask for a token with the role requester, or with all namespaces (*)")
)

// notFound is the error about an object that does not exist, or that the user may not read.
func notFound(object string) error { return &notFoundError{object} }

type notFoundError struct{ object string }

func (e *notFoundError) Error() string { return e.object + " does not exist, or you may not read it" }

// problemOf returns the response to an error, by RFC 9457; nil without an error. Errors of a store, a cluster or a cloud
// have paths and addresses, which are for readers of the whole installation.
func problemOf(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var unknown *declaration.UnknownNameError
	var missing *notFoundError
	var status huma.StatusError
	if code := refusalCodes[jobs.RefusalOf(err)]; code != 0 {
		return huma.NewError(code, err.Error())
	}
	switch {
	case errors.As(err, &status):
		return err
	case errors.Is(err, errForbidden), errors.Is(err, errMayNotChange):
		return huma.Error403Forbidden(err.Error())
	case errors.As(err, &missing), errors.As(err, &unknown):
		return huma.Error404NotFound(err.Error())
	case errors.Is(err, snapshot.ErrBusy):
		return huma.Error503ServiceUnavailable(snapshot.ErrBusy.Error())
	}
	if all, failed := access.UserOf(ctx).SeesAll(ctx); failed != nil || !all {
		return huma.Error503ServiceUnavailable("the state cannot be read now: try again in a minute")
	}
	return huma.Error503ServiceUnavailable(err.Error())
}

// refusalCodes are the codes of errors about requests.
var refusalCodes = map[jobs.Refusal]int{
	jobs.Invalid: http.StatusUnprocessableEntity, jobs.Conflict: http.StatusConflict, jobs.Exceeds: http.StatusForbidden,
	jobs.Full: http.StatusTooManyRequests, jobs.Absent: http.StatusNotFound,
}

// nothing is the input of an operation without parameters.
type nothing struct{}
