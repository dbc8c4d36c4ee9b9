package stockpools

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// KeyOf returns the key of the stock pool with this name or this NAMESPACE/NAME. The error
// lists the existing ones.
func (f *Flow) KeyOf(ctx context.Context, name string) (string, error) {
	return f.records().KeyOf(ctx, name)
}

// Assume writes attributes into the record of a stock pool as an apply would, and returns their
// old values. It is for the draft of a dry run.
func (f *Flow) Assume(ctx context.Context, key string, attributes map[string]string) (was map[string]string, err error) {
	r, err := f.records().Find(ctx, key)
	if err != nil {
		return nil, err
	}
	d := r.Value.Declaration
	was = map[string]string{}
	for _, attribute := range slices.Sorted(maps.Keys(attributes)) {
		if was[attribute], err = assume(&d, attribute, attributes[attribute]); err != nil {
			return was, fmt.Errorf("cannot assume %q as %s of the stock pool %s: use a whole number", attributes[attribute], attribute, key)
		}
	}
	for _, p := range d.WithDefaults().Validate() {
		return was, fmt.Errorf("invalid assumption about the stock pool %s: %s", key, p)
	}
	changed, differs, err := f.records().Change(r, d)
	if err == nil && differs {
		_, err = f.records().Save(ctx, r, r.Value.Phase, changed)
	}
	return was, err
}

func assume(d *stockpool.Declaration, attribute, value string) (was string, err error) {
	of := &d.Replicas
	if attribute == "maximum" {
		of = &d.Maximum
	}
	was = strconv.Itoa(*of)
	*of, err = strconv.Atoi(value)
	return was, err
}
