package budget

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

// valuation is how a budget turns records into amounts, whatever its window:
// from when and until when they count, and what their resources are worth.
type valuation struct {
	from      CountFrom
	vanished  ledger.VanishedPolicy
	resources map[string]*big.Rat
	models    map[string]*big.Rat
}

func (d Declaration) valuation() (*valuation, error) {
	resources, err := weights(d.ResourceWeights)
	if err != nil {
		return nil, fmt.Errorf("resource_weights: %w", err)
	}
	models, err := weights(d.ModelWeights)
	if err != nil {
		return nil, fmt.Errorf("model_weights: %w", err)
	}
	return &valuation{
		from: or(d.CountFrom, FromScheduled), vanished: or(d.VanishedPods, ledger.AtMidpoint),
		resources: resources, models: models,
	}, nil
}

func weights(texts map[string]string) (map[string]*big.Rat, error) {
	parsed := make(map[string]*big.Rat, len(texts))
	for key, text := range texts {
		worth, err := weight.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		parsed[key] = worth
	}
	return parsed, nil
}

// key is the same for valuations that say the same.
func (v *valuation) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q", v.from, v.vanished)
	for _, of := range []map[string]*big.Rat{v.resources, v.models} {
		for _, key := range slices.Sorted(maps.Keys(of)) {
			fmt.Fprintf(&b, " %q=%s", key, of[key].RatString())
		}
		b.WriteString(";")
	}
	return b.String()
}

// held is what a holding is worth, without the model's weight.
func (v *valuation) held(h *ledger.Holding) *big.Rat {
	total := new(big.Rat)
	if h == nil {
		return total
	}
	for n := range h.Shares {
		total.Add(total, v.share(&h.Shares[n]))
	}
	return total
}

// share is what one share is worth, all that a claim holds where it is by claim.
func (v *valuation) share(s *ledger.Share) *big.Rat {
	weight := s.Weight
	if own, there := v.resources[s.Resource]; there {
		weight = own
	}
	if s.Units == nil || weight == nil || s.Units.Sign() <= 0 || weight.Sign() <= 0 {
		return new(big.Rat)
	}
	return new(big.Rat).Mul(s.Units, weight)
}

// model is what a place multiplies by; nil is one. The GPU's model goes before
// the instance type.
func (v *valuation) model(p *ledger.Place) *big.Rat {
	if p == nil {
		return nil
	}
	if weight, there := v.models[p.Model]; there {
		return weight
	}
	return v.models[p.InstanceType]
}

// stretch is a record's interval as a valuation sees it: it counts from start to
// end; what is certain of it ends at least, and it cannot have gone on for longer
// than most. Open intervals count until now.
type stretch struct {
	start, least, end, most ledger.Time
	active                  bool
	// unshown says that nothing bears out what is held: none of it is certain.
	unshown bool
}

// stretch is the record's interval; false where nothing of it counts yet.
func (v *valuation) stretch(r *ledger.Record, now ledger.Time) (stretch, bool) {
	s := stretch{start: r.Start.At}
	if v.from == FromRunning {
		s.start = r.Runs.At
	}
	if s.start == 0 || s.start > now {
		return stretch{}, false
	}
	s.unshown = r.Held != nil && r.Held.Shown == 0
	if r.Open() {
		s.least, s.end, s.most, s.active = now, now, now, true
	} else {
		end := r.End.Point(v.vanished)
		s.active = end > now
		s.most = max(s.start, min(r.End.At, now))
		s.end = max(s.start, min(end, now))
		s.least = max(s.start, min(r.End.Earliest, now))
	}
	if s.unshown {
		s.least = s.start
	}
	return s, true
}

// certain says whether the interval's end is known.
func (s stretch) certain() bool { return s.least == s.most }

// portion is what an interval uses of a window.
type portion struct {
	consumed, estimated, bound int64
	unshown                    int64 // of what is estimated
}

// within is what the interval uses after a moment, at a rate.
func (s stretch) within(from ledger.Time, r rate) portion {
	begin := max(s.start, from)
	p := portion{consumed: r.amount(int64(s.end - begin))}
	if s.certain() {
		return p
	}
	least := r.amount(int64(s.least - begin))
	most := r.amount(int64(s.most - begin))
	p.estimated = p.consumed - least
	p.bound = max(p.estimated, most-p.consumed)
	if s.unshown {
		p.unshown = p.consumed
	}
	return p
}
