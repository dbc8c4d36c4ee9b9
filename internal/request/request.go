// Package request defines what clients ask of the next run, and the life of a request as a job. A
// request is a run now, additional GPU-hours for a budget, or a hold of a spot pool. It can also create
// a stock pool, or delete one that was requested. The API and the CLI submit requests; package reconcile/jobs keeps and does them.
package request

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Type is the type of a request.
type Type string

// The types of requests.
const (
	TypeRun       Type = "run"
	TypeGrant     Type = "grant"
	TypeHold      Type = "hold"
	TypeStockPool Type = "stock_pool"
	TypeDelete    Type = "delete"
)

// Types returns all types of requests.
func Types() []Type { return []Type{TypeRun, TypeGrant, TypeHold, TypeStockPool, TypeDelete} }

// Request is one request. Exactly one of its fields is set.
type Request struct {
	// A run now.
	Run *Run `json:"run,omitempty"`
	// Additional GPU-hours for a budget.
	Grant *Grant `json:"grant,omitempty"`
	// A pause of the reconciliation of a spot pool.
	Hold *Hold `json:"hold,omitempty"`
	// A new stock pool.
	StockPool *StockPool `json:"stock_pool,omitempty"`
	// The deletion of a requested stock pool.
	Delete *Delete `json:"delete,omitempty"`
}

// Run requests a reconciliation of all objects.
type Run struct{}

// Span is how long something requested lasts. One of its fields is set.
type Span struct {
	// The duration from the submission on, such as `4h` or `2d`.
	Duration string `json:"duration,omitempty"`
	// The end, instead of a duration.
	Until time.Time `json:"until,omitzero"`
}

// Grant requests additional GPU-hours for a budget.
type Grant struct {
	// The name of the budget.
	Budget string `json:"budget"`
	// The additional GPU-hours, such as `50`.
	GPUHours string `json:"gpu_hours"`
	Span
	// The reason, for status and the history.
	Reason string `json:"reason"`
}

// Hold requests a pause of the reconciliation of a spot pool.
type Hold struct {
	// The name of the pool, or REGION/NAME.
	Pool string `json:"pool"`
	Span
	// The reason, for status and the history.
	Reason string `json:"reason"`
}

// Delete requests the deletion of a stock pool that was requested. Terraform deletes the others.
type Delete struct {
	// The stock pool, as NAMESPACE/NAME.
	StockPool string `json:"stock_pool"`
}

// Type returns the type of a request; empty if it has none, or several.
func (r Request) Type() Type {
	var of Type
	for t, set := range map[Type]bool{
		TypeRun: r.Run != nil, TypeGrant: r.Grant != nil, TypeHold: r.Hold != nil, TypeStockPool: r.StockPool != nil, TypeDelete: r.Delete != nil,
	} {
		switch {
		case set && of != "":
			return ""
		case set:
			of = t
		}
	}
	return of
}

// Object names the object of a request, such as "budget/team-a"; "run" for a run.
func (r Request) Object() string {
	switch r.Type() {
	case TypeGrant:
		return "budget/" + r.Grant.Budget
	case TypeHold:
		return "spot_pool/" + r.Hold.Pool
	case TypeStockPool:
		return "stock_pool/" + r.StockPool.key()
	case TypeDelete:
		return "stock_pool/" + r.Delete.StockPool
	case TypeRun:
		return "run"
	}
	return ""
}

// Namespace returns the namespace of the stock pool that a request creates or deletes; empty for
// requests that concern all namespaces.
func (r Request) Namespace() string {
	switch r.Type() {
	case TypeStockPool:
		return cmp.Or(r.StockPool.Namespace, DefaultNamespace)
	case TypeDelete:
		namespace, _, _ := strings.Cut(r.Delete.StockPool, "/")
		return namespace
	}
	return ""
}

// Hash identifies the content of a request, to compare a repeated one.
func (r Request) Hash() string {
	data, err := json.Marshal(r)
	if err != nil { // a request has only text, numbers and times
		return ""
	}
	return digest(string(data))
}

// ID returns the ID of the job of a requester and an idempotency key. It is always the same, so
// that the name of the job's document is unique. Without a key, use a random ID.
func ID(requester, key string) string { return digest("job", requester, key)[:32] }

// digest hashes texts so that no two lists of texts have the same input.
func digest(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		_, _ = h.Write([]byte(strconv.Itoa(len(text)) + ":" + text)) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}
