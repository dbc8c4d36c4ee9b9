package record

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// refusals are the reasons why a record of one kind is not created, changed or deleted.
type refusals[D Declaration[D]] struct {
	Repository
	// title and noun are what messages call one: "spot pool", and "pool" where that
	// is clear. brief is what they call one by name, where its kind is clear.
	title, noun string
	brief       func(key string) string
}

// Noun returns the name of the kind in messages, such as "pool".
func (f refusals[D]) Noun() string { return f.noun }

// ErrTaken reports that a thing cannot be created, because the store has a record of it.
func (f refusals[D]) ErrTaken(r Stored[D]) *ExistsError {
	uid, _ := r.Value.Declaration.Identity()
	if r.Value.Phase == declaration.Deleting {
		e := f.ErrExists(r.Value.Declaration.Key(), fmt.Sprintf("the store %s has a record of it (uid %s), whose deletion has begun", f.Store, uid))
		e.Deleting = true
		return e
	}
	return f.ErrExists(r.Value.Declaration.Key(), fmt.Sprintf("the store %s has a record of it (%s, uid %s)", f.Store, r.Value.Phase, uid))
}

// ErrExists reports that a thing cannot be created, because it exists.
func (f refusals[D]) ErrExists(key, what string) *ExistsError {
	return &ExistsError{Title: f.title, Noun: f.noun, Key: key, What: what}
}

// stale is an error if the record has another generation than a declaration.
func (f refusals[D]) stale(r Stored[D], d D) error {
	_, generation := d.Identity()
	_, recorded := r.Value.Declaration.Identity()
	if recorded == generation {
		return nil
	}
	return fmt.Errorf("the declaration of %s changed after this plan (generation %d instead of %d): plan again", f.brief(d.Key()), recorded,
		generation)
}

// Unfinished reports an unfinished deletion.
func (f refusals[D]) Unfinished(d D) string { return f.DeletionUnfinished(d).String() }

// DeletionUnfinished is Unfinished with its code.
func (f refusals[D]) DeletionUnfinished(d D) reason.Reason {
	return reason.DeletionUnfinished(reason.Word(f.brief(d.Key())))
}

func (f refusals[D]) another(d D, uid, advice string) error {
	own, _ := d.Identity()
	return fmt.Errorf("the store %s has another %s with the name %s (uid %s, and this one is %s): nothing was changed. %s", f.Store, f.noun, d.Key(), uid,
		own, advice)
}

// Foreign is an error where the record under the name of a thing is another's.
func (f refusals[D]) Foreign(r Stored[D], d D) error {
	if !r.Exists() || sameUID(r.Value.Declaration, d) {
		return nil
	}
	uid, _ := r.Value.Declaration.Identity()
	return f.another(d, uid, fmt.Sprintf("Use the store that this %[1]s was created with, or remove the %[1]s from this state with terraform state rm", f.noun))
}

// Destroyed reports that a thing was destroyed and must not be created again.
func (f refusals[D]) Destroyed(d D, at time.Time) error {
	uid, _ := d.Identity()
	return fmt.Errorf("the %s %s (uid %s) was destroyed at %s: remove it from this state with terraform state rm, or plan again", f.title, d.Key(), uid,
		at.Format(time.RFC3339))
}

// ErrLost reports that the store has nothing about a thing in a Terraform state.
func (f refusals[D]) ErrLost(d D) *LostError {
	uid, _ := d.Identity()
	return &LostError{Title: f.title, Key: d.Key(), UID: uid, Store: f.Store.Location().Absolute().String()}
}
