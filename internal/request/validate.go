package request

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

const (
	maxKey = 255 // bytes
	maxEnv = 64 << 10
)

var namespaceForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// DefaultLifetime is how long a requested stock pool lasts if the request does not say.
const DefaultLifetime = exception.Longest

// Validate returns an *InvalidError with all problems of a request that can be found without a
// store. A stock pool must have its defaults.
func (r Request) Validate(requester string, now time.Time) error {
	var list problem.List
	if err := exception.ValidateWho(requester); err != nil {
		list.Add("requested_by", reason.InvalidRequester(reason.NewForeign(strings.TrimPrefix(err.Error(), "its "))))
	}
	switch r.Type() {
	case TypeGrant:
		g := *r.Grant
		list.Name("grant.budget", g.Budget, "budget")
		if _, err := budget.ParseHours(g.GPUHours); err != nil {
			list.Add("grant.gpu_hours", reason.InvalidHours(reason.Failure(err)))
		}
		exceptional(&list, "grant", g.Span, g.Reason, now)
	case TypeHold:
		h := *r.Hold
		region, name, found := strings.Cut(h.Pool, "/")
		if !found {
			region, name = "-", h.Pool
		}
		if list.Name("hold.pool", name, "pool"); region == "" {
			list.Add("hold.pool", reason.PoolNoRegion(reason.Quoted(h.Pool)))
		}
		exceptional(&list, "hold", h.Span, h.Reason, now)
	case TypeStockPool:
		r.StockPool.validate(&list, now)
	case TypeDelete:
		namespace, name, _ := strings.Cut(r.Delete.StockPool, "/")
		list.Name("delete.stock_pool", name, "stock_pool")
		if !namespaceForm.MatchString(namespace) {
			list.Add("delete.stock_pool", reason.PoolNamespace(reason.Quoted(namespace)))
		}
	case "":
		list.Add("request", reason.NotOneRequest())
	}
	if len(list) > 0 {
		return &InvalidError{Problems: list}
	}
	return nil
}

// exceptional adds the problems of the duration and the reason of a grant or a hold.
func exceptional(list *problem.List, at string, s Span, why string, now time.Time) {
	until, ok := s.check(list, at, now)
	if !ok {
		return
	}
	if err := exception.ValidateFor(until.Sub(now)); err != nil {
		list.Add(s.attribute(at), reason.InvalidPeriod(reason.Failure(err)))
	} else if err := exception.ValidateWhy(why); err != nil {
		list.Add(at+".reason", reason.InvalidWhy(reason.Failure(err)))
	}
}

func (s *StockPool) validate(list *problem.List, now time.Time) {
	for _, p := range s.Declaration().Validate() {
		p.Attribute = "stock_pool." + p.Attribute
		*list = append(*list, p)
	}
	size := 0
	for name, value := range s.Env {
		size += len(name) + len(value)
	}
	for _, text := range append(append([]string{}, s.Command...), s.Args...) {
		size += len(text)
	}
	if size > maxEnv {
		list.Add("stock_pool.env", reason.EnvTooLong(maxEnv))
	}
	if s.Budget != "" {
		list.Name("stock_pool.budget", s.Budget, "budget")
	}
	if s.Duration == "" && s.Until.IsZero() {
		return
	}
	if until, ok := s.check(list, "stock_pool", now); ok {
		lifetime := until.Sub(now)
		list.Lasts(s.attribute("stock_pool"), duration.Words(lifetime), lifetime, exception.Shortest, exception.Longest, reason.LifetimeRange)
	}
}

// attribute returns the attribute that says when a span ends.
func (s Span) attribute(at string) string {
	if s.Until.IsZero() {
		return at + ".duration"
	}
	return at + ".until"
}

// check returns the end of a span, or adds its problem.
func (s Span) check(list *problem.List, at string, now time.Time) (time.Time, bool) {
	switch {
	case (s.Duration == "") == s.Until.IsZero():
		list.Add(at+".duration", reason.NotOneEnd())
		return time.Time{}, false
	case !s.Until.IsZero():
		if !s.Until.After(now) {
			list.Add(at+".until", reason.EndIsOver(reason.Instant{Time: s.Until.UTC()}))
			return time.Time{}, false
		}
	default:
		if _, err := duration.Parse(s.Duration); err != nil {
			list.Add(at+".duration", reason.InvalidDuration(reason.Failure(err)))
			return time.Time{}, false
		}
	}
	return s.End(now), true
}

// End returns when what was requested at a moment expires; zero if the span does not say.
func (s Span) End(requested time.Time) time.Time {
	if !s.Until.IsZero() {
		return s.Until.UTC().Truncate(time.Second)
	}
	length, err := duration.Parse(s.Duration)
	if err != nil {
		return time.Time{}
	}
	return requested.UTC().Truncate(time.Second).Add(length)
}

// ValidateKey returns an *InvalidError if an idempotency key is invalid. An empty one is none.
func ValidateKey(key string) error {
	bad := func(r rune) bool { return r < '!' || r > '~' }
	if len(key) <= maxKey && !strings.ContainsFunc(key, bad) {
		return nil
	}
	var list problem.List
	list.Add("idempotency_key", reason.InvalidKey(maxKey))
	return &InvalidError{Problems: list}
}

// InvalidError reports the problems of a request.
type InvalidError struct{ Problems []problem.Problem }

// Error lists the problems.
func (e *InvalidError) Error() string {
	texts := make([]string, len(e.Problems))
	for n, p := range e.Problems {
		texts[n] = strings.TrimSuffix(p.String(), ".")
	}
	return fmt.Sprintf("invalid request: %s", strings.Join(texts, "; "))
}
