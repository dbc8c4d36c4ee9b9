package accounting

import (
	"context"
	"math/big"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
)

// Live are the pods of a fresh observation that hold GPUs or wait for some, as one budget counts them. With
// wanted they are only the latter.
func (b *Books) Live(ctx context.Context, d budget.Declaration, wanted decide.WantedPods) ([]budget.Pod, error) {
	list := b.cluster.LivePods
	if wanted == decide.WaitingPods {
		list = b.cluster.WaitingPods
	}
	seen, err := list(ctx, d.Selector.Namespaces, b.Rules)
	if err != nil {
		return nil, err
	}
	counts, err := b.meter(d)
	if err != nil {
		return nil, err
	}
	var pods []budget.Pod
	for _, s := range seen {
		p, holds := b.recorder.pod(s)
		if !holds {
			continue
		}
		if r, known := b.documents.ledger.Get(p.UID); known {
			p.Charged, p.MilliGPUs = r.Set, 0
			if usage, counted := counts.Pod(&r); counted {
				p.MilliGPUs = milliGPUs(usage.GPUs)
			}
		} else {
			r := b.recorder.recordOf(s)
			p.MilliGPUs = milliGPUs(counts.GPUs(&r))
			if bound, known := b.documents.ledger.Binding(p.UID); known {
				p.Charged = bound.Set
			}
		}
		pods = append(pods, p)
	}
	return pods, nil
}

// meter measures pods as a budget counts them, among all that the ledger has.
func (b *Books) meter(d budget.Declaration) (*meter.Meter, error) {
	if b.claims == nil {
		b.claims = meter.ClaimsOf(b.documents.ledger.All())
	}
	return meter.New(d, b.Now(), b.claims, time.LoadLocation)
}

// milliGPUs returns a number of GPUs in thousandths. It rounds up: it is zero only if no GPUs are held.
func milliGPUs(gpus *big.Rat) int64 {
	if gpus.Sign() <= 0 {
		return 0
	}
	return max(1, milliOf(gpus))
}
