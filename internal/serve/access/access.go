// Package access decides who may read and request what through the API. A user comes from a file of
// tokens or from Kubernetes; on a loopback address without tokens, every local user is the operator.
package access

import (
	"context"
	"errors"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// The resources of the API. In a cluster they are virtual resources of the group Group.
const (
	SpotPools  = "spotpools"
	Budgets    = "budgets"
	StockPools = "stockpools"
	Jobs       = "jobs"
	Grants     = "budgets/grants"
	Holds      = "spotpools/holds"
	Runs       = "runs"
	Metrics    = "metrics"
)

// Group is the API group of the virtual resources.
const Group = "gpupool.io"

// The verbs of the API.
const (
	Get    = "get"
	Create = "create"
	Delete = "delete"
)

// Question is whether a user may do something. An empty namespace means all namespaces.
type Question struct{ Verb, Resource, Namespace string }

// Rights answer questions about one user.
type Rights interface {
	Allow(ctx context.Context, q Question) (bool, error)
}

// User is who sent a request.
type User struct {
	Name string
	Rights
}

// Allows reports whether the user may do something in a namespace, or in all.
func (u *User) Allows(ctx context.Context, verb, resource, namespace string) (bool, error) {
	all, err := u.Allow(ctx, Question{verb, resource, ""})
	if all || err != nil || namespace == "" {
		return all, err
	}
	return u.Allow(ctx, Question{verb, resource, namespace})
}

// SeesAll reports whether the user may read the whole installation: objects of all kinds and namespaces.
func (u *User) SeesAll(ctx context.Context) (bool, error) {
	for _, resource := range []string{SpotPools, Budgets, StockPools} {
		if sees, err := u.Allows(ctx, Get, resource, ""); err != nil || !sees {
			return false, err
		}
	}
	return true, nil
}

// SeesBudget reports whether the user may read a budget: all budgets, or those of each namespace that
// it selects. A budget that selects by labels of namespaces, or all namespaces, is of all.
func (u *User) SeesBudget(ctx context.Context, s *budget.Selector) (bool, error) {
	if all, err := u.Allows(ctx, Get, Budgets, ""); all || err != nil {
		return all, err
	}
	if s == nil || len(s.Namespaces) == 0 {
		return false, nil
	}
	for _, namespace := range s.Namespaces {
		if sees, err := u.Allows(ctx, Get, Budgets, namespace); !sees || err != nil {
			return false, err
		}
	}
	return true, nil
}

// ErrUnknownToken says that a token is missing, or that it is of no user.
var ErrUnknownToken = errors.New("the bearer token is missing or unknown")

// Authenticator returns the user of a token, which is empty if there is none. The error is
// ErrUnknownToken if there is no such user.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (*User, error)
}

// Operator authenticates every request as the operator.
type Operator struct{}

// Authenticate returns the operator.
func (Operator) Authenticate(context.Context, string) (*User, error) {
	return &User{Name: "operator", Rights: everything{}}, nil
}

type everything struct{}

func (everything) Allow(context.Context, Question) (bool, error) { return true, nil }

type userKey struct{}

// WithUser returns a context with a user.
func WithUser(ctx context.Context, u *User) context.Context {
	return context.WithValue(ctx, userKey{}, u)
}

// UserOf returns the user of a context; one without rights if there is none.
func UserOf(ctx context.Context) *User {
	if u, ok := ctx.Value(userKey{}).(*User); ok {
		return u
	}
	return &User{Rights: nothing{}}
}

type nothing struct{}

func (nothing) Allow(context.Context, Question) (bool, error) { return false, nil }
