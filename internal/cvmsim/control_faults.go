package cvmsim

import (
	"slices"
	"strings"
)

// AddFault files a fault and returns its id.
func (p *Panel) AddFault(f Fault) (string, error) {
	if !slices.Contains(faultKinds, f.Kind) {
		return "", fieldError("kind", "must be one of %s, not %q", strings.Join(faultKinds, ", "), f.Kind)
	}
	if f.Action != "" && f.Action != "*" && !p.endpoint.Knows(f.Action) {
		return "", fieldError("action", "%q is not an action of this server", f.Action)
	}
	if f.Kind == FaultError && f.Code == "" {
		return "", fieldError("code", "is required for the kind error")
	}
	if f.Count < -1 {
		return "", fieldError("count", "must be -1 (always), or how many calls")
	}
	if f.After < 0 {
		return "", fieldError("after", "must not be negative")
	}
	if f.Delay < 0 {
		return "", fieldError("delay", "must not be negative")
	}
	return p.endpoint.Faults.Add(f), nil
}

// Faults returns the faults that still have calls to hit.
func (p *Panel) Faults() []Fault { return p.endpoint.Faults.All() }

// ClearFaults removes the faults with these ids, or all of them.
func (p *Panel) ClearFaults(ids ...string) { p.endpoint.Faults.Clear(ids...) }

// Calls returns the calls since the start or the last ResetCalls, oldest
// first.
func (p *Panel) Calls() []Call { return p.endpoint.Calls.All() }

// ResetCalls forgets the calls.
func (p *Panel) ResetCalls() { p.endpoint.Calls.Reset() }
