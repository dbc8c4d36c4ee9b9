package record

import (
	"context"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Deletion is a deletion that was begun and is not complete.
type Deletion struct {
	// Since is when it was begun.
	Since time.Time `json:"since"`
	// Next is the effect of the next gpupool reconcile on it.
	Next reason.Reason `json:"next"`
}

// NewDeletion returns the deletion that a record shows; nil if the record is in another
// phase. next says what the next run does about it.
func NewDeletion(phase declaration.Phase, updatedAt time.Time, next reason.Reason) *Deletion {
	if phase != declaration.Deleting {
		return nil
	}
	return &Deletion{Since: updatedAt, Next: next}
}

// For returns the deletion as a reader of the object may see it.
func (d *Deletion) For(reader reason.Renderer) *Deletion {
	if d == nil {
		return nil
	}
	return &Deletion{Since: d.Since, Next: reader.Redact(d.Next)}
}

// String returns since when the deletion is in progress, and what the next run does.
func (d Deletion) String() string {
	return "since " + wording.Instant(d.Since) + "; " + reason.Renderer{}.Text(d.Next)
}

// Deletable is the record by which a thing is deleted that a state declares as d. The
// record decides, not the state: its declaration has the protection and says what
// happens to what the thing has. As for a change, another generation is refused, unless
// the deletion was begun before. The record does not exist if a tombstone says that the
// thing is deleted. If the store has neither, the error is *LostError. Its lock must be
// held.
func (l Lifecycle[D]) Deletable(ctx context.Context, d D) (Stored[D], error) {
	r, tombstone, err := l.Known(ctx, d)
	own := r.Exists() && sameUID(r.Value.Declaration, d)
	switch {
	case err != nil:
		return r, err
	case own && r.Value.Phase == declaration.Deleting:
		return r, nil
	case own:
		if err := l.stale(r, d); err != nil {
			return r, fmt.Errorf("%w, with terraform apply -refresh-only first if it does not refresh; nothing was deleted", err)
		}
		return r, nil
	case tombstone.Exists():
		return Stored[D]{}, nil
	}
	return r, l.ErrLost(d)
}

// BeginDeletion marks a record as deleting, so that a run can finish what a kill
// interrupts. Its lock must be held.
func (l Lifecycle[D]) BeginDeletion(ctx context.Context, r Stored[D]) (Stored[D], error) {
	if r.Value.Phase == declaration.Deleting {
		return r, nil
	}
	return l.Save(ctx, r, declaration.Deleting, r.Value.Declaration)
}

// NoteDeletion queues the event of a begun deletion. Each process that resumes the deletion
// does so, since the one that began it may have been killed before it reported.
func (l Lifecycle[D]) NoteDeletion(o *Outbox, r Stored[D], reasons ...reason.Reason) {
	d := r.Value.Declaration
	uid, _ := d.Identity()
	about := history.About{At: r.Value.UpdatedAt, Object: d.Object(), ObjectUID: uid, Actor: r.Value.UpdatedBy, Reasons: reasons}
	o.Note(about.Declaration(history.Delete))
}
