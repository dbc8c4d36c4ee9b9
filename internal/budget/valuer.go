package budget

import (
	"math/big"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// valuer is a valuation that remembers what it found of holdings and places.
type valuer struct {
	*valuation
	rates    []rate // all that were met; the first is none
	byText   map[string]int32
	holdings interner[ledger.Holding]
	worth    []*big.Rat // by holding
	places   interner[ledger.Place]
	models   []*big.Rat // the distinct weights of places; the first is one
	byModel  map[string]int32
	table    [][]int32 // the rate by model and holding, plus one; 0 is not known yet
	// surplus is by how much more than the ledger's weights any holding or model
	// was worth; at least 1. Boundless says that some were worth nothing there.
	surplus   *big.Rat
	boundless bool
}

func newValuer(v *valuation) *valuer {
	one := big.NewRat(1, 1)
	made := &valuer{
		valuation: v, rates: []rate{rateOf(nil)}, byText: map[string]int32{},
		models: []*big.Rat{one}, byModel: map[string]int32{one.RatString(): 0}, table: make([][]int32, 1), surplus: one,
	}
	for _, weight := range v.models {
		if weight.Cmp(made.surplus) > 0 {
			made.surplus = weight
		}
	}
	return made
}

// rate is the number of the rate at which a record uses: of one that shares by
// claims, if it were alone.
func (v *valuer) rate(r *ledger.Record) int32 {
	if r.Held == nil {
		return 0
	}
	holding, known := v.holdings.find(r.Held, r.Held.ID())
	if !known {
		holding = v.newHolding(r.Held)
	}
	model := int32(0)
	if len(v.valuation.models) > 0 && r.Place != nil {
		if model, known = v.places.find(r.Place, r.Place.ID()); !known {
			model = v.newPlace(r.Place)
		}
	}
	row := v.table[model]
	if int(holding) < len(row) && row[holding] > 0 {
		return row[holding] - 1
	}
	return v.newRate(model, holding)
}

func (v *valuer) newHolding(h *ledger.Holding) int32 {
	number := int32(len(v.worth))
	worth := v.held(h)
	v.worth = append(v.worth, worth)
	v.holdings.keep(h, h.ID(), number)
	if len(v.resources) == 0 {
		return number
	}
	switch base := (&valuation{}).held(h); {
	case base.Sign() == 0:
		v.boundless = v.boundless || worth.Sign() > 0
	default:
		most := new(big.Rat).Quo(worth, base)
		for _, weight := range v.valuation.models {
			if more := new(big.Rat).Mul(most, weight); more.Cmp(v.surplus) > 0 {
				v.surplus = more
			}
		}
		if most.Cmp(v.surplus) > 0 {
			v.surplus = most
		}
	}
	return number
}

func (v *valuer) newPlace(p *ledger.Place) int32 {
	weight := v.model(p)
	if weight == nil {
		weight = v.models[0]
	}
	number, known := v.byModel[weight.RatString()]
	if !known {
		number = int32(len(v.models))
		v.byModel[weight.RatString()] = number
		v.models = append(v.models, weight)
		v.table = append(v.table, nil)
	}
	v.places.keep(p, p.ID(), number)
	return number
}

func (v *valuer) newRate(model, holding int32) int32 {
	number := v.number(new(big.Rat).Mul(v.worth[holding], v.models[model]))
	row := v.table[model]
	if int(holding) >= len(row) {
		row = append(row, make([]int32, len(v.worth)-len(row))...)
		v.table[model] = row
	}
	row[holding] = number + 1
	return number
}

// number is that of a rate.
func (v *valuer) number(gpus *big.Rat) int32 {
	if gpus.Sign() <= 0 {
		return 0
	}
	text := gpus.RatString()
	number, known := v.byText[text]
	if !known {
		number = int32(len(v.rates))
		v.byText[text] = number
		v.rates = append(v.rates, rateOf(gpus))
	}
	return number
}
