package stockpools

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Explanation is a stock pool's overview with all that its decisions follow from.
type Explanation struct {
	Overview
	Declared Declared `json:"declared"`
	// Budgets are those that cover its pods, and the one that it names, as the last run
	// judged them.
	Budgets []stockpool.Cover `json:"budgets"`
	// Standings are its pods, and Writers who last wrote what of its Deployment.
	Standings []stockpool.Standing `json:"standings"`
	Writers   []stockpool.Writer   `json:"writers"`
}

// Declared is what of a declaration says how many pods there are, and what each asks for.
type Declared struct {
	Generation        int64             `json:"generation,omitempty"`
	Image             string            `json:"image,omitempty"`
	Memory            string            `json:"memory,omitempty"`
	CPU               string            `json:"cpu,omitempty"`
	GPU               int               `json:"gpu"`
	GPUResource       string            `json:"gpu_resource,omitempty"`
	Replicas          int               `json:"replicas"`
	Keep              stockpool.Keep    `json:"keep,omitempty"`
	Maximum           int               `json:"maximum,omitempty"`
	NodeSelector      map[string]string `json:"node_selector,omitempty"`
	AllocatedSelector string            `json:"allocated_selector,omitempty"`
	MinimumAvailable  int               `json:"minimum_available,omitempty"`
	Budget            string            `json:"budget,omitempty"`
}

func declared(d stockpool.Declaration) Declared {
	of := Declared{
		Generation: d.Generation, Image: d.Image, Memory: d.Memory, CPU: d.CPU, GPU: d.GPU, GPUResource: d.GPUResource, Replicas: d.Replicas,
		Keep: d.Keep, Maximum: d.Maximum, NodeSelector: d.NodeSelector, AllocatedSelector: d.AllocatedSelector, Budget: d.Budget,
	}
	if d.PodDisruption != nil {
		of.MinimumAvailable = d.PodDisruption.MinimumAvailable
	}
	return of
}

// Explain looks at those stock pools of the store whose names fit, without a lock, and
// decides without acting. Its warnings go to warnings.
func (f *Flow) Explain(ctx context.Context, fits func(object string) bool, warnings *outcome.Warnings) ([]Explanation, error) {
	r := f.run(Options{}, warnings, func(key string) bool { return fits("stock_pool/" + key) })
	if err := r.Read(ctx); err != nil {
		return nil, err
	}
	declarations := map[string]stockpool.Declaration{}
	for _, t := range r.Targets() {
		declarations[t.Key] = t.Record.Declaration.WithDefaults()
	}
	list := []Explanation{}
	r.each(ctx, func(o Overview, by *pass) {
		d := declarations[o.Summary().Name]
		e := Explanation{Overview: o, Declared: declared(d)}
		if by != nil {
			e.Budgets, e.Writers = by.covers, stockpool.Writers(by.seen.Deployment)
			e.Standings = stockpool.Standings(stockpool.Situation{Declaration: d, Journal: by.journal.Value, Seen: by.seen})
		}
		list = append(list, e)
	})
	return list, nil
}
