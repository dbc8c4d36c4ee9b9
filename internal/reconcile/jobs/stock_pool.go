package jobs

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// declarationOf returns the declaration of the stock pool that a job requests. It belongs to the
// API, and expires.
func declarationOf(job declaration.Job) stockpool.Declaration {
	r := *job.Request.StockPool
	d := r.Declaration()
	d.UID, d.ManagedBy, d.Owner = job.EffectID, stockpool.ManagedByAPI, job.RequestedBy
	expires := r.End(job.RequestedAt)
	if r.Duration == "" && r.Until.IsZero() {
		expires = job.RequestedAt.Add(request.DefaultLifetime)
	}
	d.ExpiresAt = expires.UTC().Truncate(time.Second)
	return d
}
