package stockpools

import (
	"context"
	"errors"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Request records a stock pool that a job requested, so that the run which does the job creates it.
// It is recorded as active: runs leave a creation that is in progress to Terraform. The UID of the
// job makes a repeated request find its own record. check is called before a new one is recorded.
func (f *Flow) Request(ctx context.Context, d stockpool.Declaration, check func(ctx context.Context) error) error {
	if err := valid(d); err != nil {
		return exception.Refuse("%w", err)
	}
	c, uid, err := f.connect(ctx)
	if err != nil {
		return err
	}
	d = d.WithIdentity(d.UID, 1)
	d.ClusterUID = uid
	return c.records().Locked(ctx, d, func(ctx context.Context) error {
		r, err := c.records().Load(ctx, d.Key())
		switch {
		case err != nil:
			return err
		case r.Exists() && r.Value.Declaration.UID == d.UID && r.Value.Phase == declaration.Active:
			return nil
		case r.Exists() && r.Value.Declaration.UID != d.UID:
			return record.Taken(r.Value.Declaration)
		case r.Exists():
			return exception.Refuse("%s", c.records().Unfinished(d))
		}
		tombstone, err := c.records().Tombstone(ctx, d.UID)
		if err != nil {
			return err
		}
		if tombstone.Exists() {
			return exception.Refuse("%s was created and deleted before its job was completed", d.Object())
		}
		if err := check(ctx); err != nil {
			return err
		}
		return c.recordRequest(ctx, r, d)
	})
}

// notCreated refuses a request for a reason of the cluster or of a budget.
func notCreated(d stockpool.Declaration, err error) error {
	return &exception.RefusedError{Err: &reason.Error{Reason: reason.NotCreated(reason.Object(d.Object()), reason.Explain(err)), Err: err}}
}

// recordRequest records a requested stock pool, unless the cluster or a budget refuses it.
func (c connection) recordRequest(ctx context.Context, r stored, d stockpool.Declaration) error {
	p, err := c.newPass(ctx, r, d)
	if err != nil {
		return err
	}
	if err := p.refuse(ctx); err != nil {
		if !p.observation.Known() { // it could not be observed
			return err
		}
		return notCreated(d, err)
	}
	if err := p.undeclared(ctx); err != nil {
		var undeclared *record.UndeclaredError
		if errors.As(err, &undeclared) {
			return notCreated(d, err)
		}
		return err
	}
	_, err = c.records().Save(ctx, r, declaration.Active, d)
	return err
}

// Withdraw begins the deletion of a requested stock pool, which runs continue. A pool of another UID
// is left. If Terraform manages the pool by now, the error is that of record.Taken.
func (f *Flow) Withdraw(ctx context.Context, d stockpool.Declaration) error {
	return f.records().Locked(ctx, d, func(ctx context.Context) error {
		r, err := f.requested(ctx, d)
		if err != nil || !r.Exists() {
			return err
		}
		if !r.Value.Declaration.Requested() {
			return record.Taken(r.Value.Declaration)
		}
		_, err = f.records().BeginDeletion(ctx, r)
		return err
	})
}

// Gone reports whether the store has no record of a stock pool.
func (f *Flow) Gone(ctx context.Context, d stockpool.Declaration) (bool, error) {
	r, err := f.requested(ctx, d)
	return !r.Exists(), err
}

// requested returns the record of a stock pool, unless its name has one of another UID.
func (f *Flow) requested(ctx context.Context, d stockpool.Declaration) (stored, error) {
	r, err := f.records().Load(ctx, d.Key())
	if err == nil && r.Exists() && r.Value.Declaration.UID != d.UID {
		return stored{}, nil
	}
	return r, err
}

// expiry returns why an expired pool is deleted; nothing if it is not expired.
func expiry(d stockpool.Declaration, now time.Time) reason.Reasons {
	if !d.Expired(now) {
		return nil
	}
	return reason.Reasons{reason.PoolExpired(reason.Instant{Time: d.ExpiresAt.UTC()}, reason.Word(d.Owner))}
}
