package spotpools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Assume changes attributes in the record of a pool, as an apply would, and returns the old
// values. It is for the draft of a dry run.
func (f *Flow) Assume(ctx context.Context, key string, attributes map[string]string) (was map[string]string, err error) {
	r, err := f.records().Find(ctx, key)
	if err != nil {
		return nil, err
	}
	d := r.Value.Declaration
	d.Offerings = slices.Clone(d.Offerings)
	was = map[string]string{}
	for _, attribute := range slices.Sorted(maps.Keys(attributes)) {
		if was[attribute], err = assume(&d, attribute, attributes[attribute]); err != nil {
			return was, fmt.Errorf("assume %s = %[3]q of the pool %[2]s: %[4]w", attribute, key, attributes[attribute], err)
		}
	}
	var problems []error
	for _, p := range d.WithDefaults().Validate() {
		problems = append(problems, errors.New(p.String()))
	}
	if len(problems) > 0 {
		return was, fmt.Errorf("the assumed pool %s is invalid: %w", key, errors.Join(problems...))
	}
	changed, differs, err := f.records().Change(r, d)
	if err == nil && differs {
		_, err = f.records().Save(ctx, r, r.Value.Phase, changed)
	}
	return was, err
}

// KeyOf returns the key of the pool with this name, which may include its region. The error
// names the existing pools.
func (p *Ports) KeyOf(ctx context.Context, name string) (string, error) {
	return p.records().KeyOf(ctx, name)
}

// assume sets one attribute, and returns its old value.
func assume(d *spotpool.Declaration, attribute, value string) (was string, err error) {
	switch attribute {
	case "minimum":
		was = strconv.Itoa(d.Minimum)
		d.Minimum, err = strconv.Atoi(value)
	case "maximum":
		was = strconv.Itoa(d.Maximum)
		d.Maximum, err = strconv.Atoi(value)
	default: // spot_max_price, of every offering
		var limits []string
		price, bad := spotpool.ParsePrice(value)
		for n := range d.Offerings {
			limits = append(limits, capOf(d.Offerings[n]))
			d.Offerings[n].SpotMaxPrice = price
		}
		slices.Sort(limits)
		return strings.Join(slices.Compact(limits), ", "), bad
	}
	if err != nil {
		err = errors.New("write a whole number")
	}
	return was, err
}

func capOf(o spotpool.Offering) string {
	if o.SpotMaxPrice == 0 {
		return "none"
	}
	return o.SpotMaxPrice.String()
}
