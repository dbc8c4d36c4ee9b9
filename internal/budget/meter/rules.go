package meter

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

// rules are how a budget turns records into amounts, whatever its window: from when
// and until when they count, and what their resources are worth. They remember the
// rates at which pods use, each with a number; number 0 is none.
type rules struct {
	from      budget.CountFrom
	vanished  ledger.EndEstimate
	resources map[string]*big.Rat
	models    map[string]*big.Rat

	id           int // among those of one evaluation
	allocations  *allocations
	rates        []rate
	numbers      map[string]int32 // by the text of the number of GPUs
	byAllocation []int32          // plus one; 0 is not known yet
	// surplus is by how much more than the ledger's weights any allocation or model
	// was worth; at least 1. Boundless says that some were worth nothing there.
	surplus   *big.Rat
	boundless bool
}

func rulesOf(d budget.Declaration) (*rules, error) {
	resources, err := weights(d.ResourceWeights)
	if err != nil {
		return nil, fmt.Errorf("resource_weights: %w", err)
	}
	models, err := weights(d.ModelWeights)
	if err != nil {
		return nil, fmt.Errorf("model_weights: %w", err)
	}
	d = d.WithDefaults()
	if d.PodEndEstimate != ledger.EstimateEarliest && d.PodEndEstimate != ledger.EstimateLatest {
		d.PodEndEstimate = ledger.EstimateMidpoint // as ledger has it
	}
	r := newRules(d.CountFrom, d.PodEndEstimate, newAllocations())
	r.resources, r.models = resources, models
	r.exceed(ratOne)
	return r, nil
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

// newRules are rules with the ledger's own weights.
func newRules(from budget.CountFrom, vanished ledger.EndEstimate, known *allocations) *rules {
	return &rules{from: from, vanished: vanished, allocations: known, rates: []rate{rateOf(nil)}, numbers: map[string]int32{}, surplus: ratOne}
}

// key is the same for rules that say the same.
func (r *rules) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q", r.from, r.vanished)
	for _, of := range []map[string]*big.Rat{r.resources, r.models} {
		for _, key := range slices.Sorted(maps.Keys(of)) {
			fmt.Fprintf(&b, " %q=%s", key, of[key].RatString())
		}
		b.WriteString(";")
	}
	return b.String()
}

// worth is how many GPUs an allocation is, without the model's weight. A pod with claims counts as if it were
// the only one that holds them.
func (r *rules) worth(a *ledger.Allocation) *big.Rat {
	total := new(big.Rat)
	if a == nil {
		return total
	}
	for n := range a.Shares {
		total.Add(total, r.share(&a.Shares[n]))
	}
	return total
}

// share is what one share is worth. If it is by claim, that is all that the claim holds.
func (r *rules) share(s *ledger.Share) *big.Rat {
	weight := s.Weight
	if own, there := r.resources[s.Resource]; there {
		weight = own
	}
	if s.Units == nil || weight == nil || s.Units.Sign() <= 0 || weight.Sign() <= 0 {
		return new(big.Rat)
	}
	return new(big.Rat).Mul(s.Units, weight)
}

// model returns the weight of a GPU of a model. The model comes before the instance
// type.
func (r *rules) model(model, instanceType string) *big.Rat {
	if weight, there := r.models[model]; there {
		return weight
	}
	if weight, there := r.models[instanceType]; there {
		return weight
	}
	return ratOne
}

var ratZero, ratOne = new(big.Rat), big.NewRat(1, 1) // never changed

// rate is the number of the rate of an allocation.
func (r *rules) rate(allocation int32) int32 {
	if unknown := len(r.allocations.list) - len(r.byAllocation); unknown > 0 {
		r.byAllocation = append(r.byAllocation, make([]int32, unknown)...)
	}
	if known := r.byAllocation[allocation]; known > 0 {
		return known - 1
	}
	what := r.allocations.list[allocation]
	worth := r.worth(what.allocation)
	if len(r.resources) > 0 {
		switch byLedger := new(rules).worth(what.allocation); {
		case byLedger.Sign() > 0:
			r.exceed(new(big.Rat).Quo(worth, byLedger))
		case worth.Sign() > 0:
			r.boundless = true
		}
	}
	number := r.number(worth.Mul(worth, r.model(what.model, what.instanceType)))
	r.byAllocation[allocation] = number + 1
	return number
}

// exceed notes that an allocation is so many times what it is by the ledger's weights:
// it may be of any model.
func (r *rules) exceed(times *big.Rat) {
	if times.Cmp(r.surplus) > 0 {
		r.surplus = times
	}
	for _, weight := range r.models {
		if more := new(big.Rat).Mul(times, weight); more.Cmp(r.surplus) > 0 {
			r.surplus = more
		}
	}
}

// number is that of a rate.
func (r *rules) number(gpus *big.Rat) int32 {
	if gpus.Sign() <= 0 {
		return 0
	}
	text := gpus.RatString()
	number, known := r.numbers[text]
	if !known {
		number = int32(len(r.rates))
		r.numbers[text] = number
		r.rates = append(r.rates, rateOf(gpus))
	}
	return number
}
