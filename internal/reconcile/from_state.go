package reconcile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// takeOver brings declarations out of Terraform state into the store, where the
// store has none or an older one. A newer record wins, a tombstone refuses. A dry
// run goes on with a draft of the store, and judges by what a run would.
func (r *run) takeOver(ctx context.Context, state *declaration.TerraformState) error {
	if r.options.DryRun {
		r.Engine = r.drafted()
	}
	for _, text := range state.Warnings {
		r.warn(text)
	}
	older, err := r.olderState(ctx, state)
	if err != nil {
		return err
	}
	for _, p := range state.Pools {
		if p.Tainted {
			r.warn(fmt.Sprintf("%s is tainted: the next terraform apply replaces it", p.Address))
		}
		err := p.Unread
		if err == nil {
			err = at(p.Address, r.takeOverPool(ctx, p, older))
		}
		if err != nil {
			r.add(newPoolReport(p.Declaration, nil, Failed, err), nil)
		}
	}
	for _, b := range state.Budgets {
		if b.Tainted {
			r.warn(fmt.Sprintf("%s is tainted: the next terraform apply replaces it", b.Address))
		}
		err := b.Unread
		if err == nil {
			err = at(b.Address, r.takeOverBudget(ctx, b, older))
		}
		if err != nil {
			r.addBudget(failedBudget(b.Declaration, err), nil)
		}
	}
	return nil
}

// at says of which object of a state an error is.
func at(address string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", address, err)
}

// olderState says, for a state with serial and lineage, what newer one of the
// same lineage was seen; empty where none was.
func (r *run) olderState(ctx context.Context, state *declaration.TerraformState) (string, error) {
	if state.Serial == nil || state.Lineage == "" {
		return "", nil
	}
	name := stateName(state.Lineage)
	seen, err := load[declaration.State](ctx, r.Store, store.States, name)
	if err != nil {
		return "", err
	}
	if seen.exists() && seen.value.Serial > *state.Serial {
		text := fmt.Sprintf("this state has serial %d, and serial %d of the same lineage was seen before", *state.Serial, seen.value.Serial)
		r.warn(text + ": the store's records win")
		return text, nil
	}
	if seen.exists() && seen.value.Serial == *state.Serial {
		return "", nil
	}
	_, err = save(ctx, r.Store, store.States, name, seen, declaration.State{
		Lineage: state.Lineage, Serial: *state.Serial, SeenAt: time.Now().UTC().Truncate(time.Second),
	})
	return "", err
}

// stateName names a lineage's document. A lineage is usually a UUID, but
// Terraform takes any text.
func stateName(lineage string) string {
	sum := sha256.Sum256([]byte(lineage))
	return hex.EncodeToString(sum[:16])
}

func (r *run) takeOverPool(ctx context.Context, p declaration.StatePool, older string) error {
	d := p.Declaration
	if problems := d.Validate(); len(problems) > 0 {
		return fmt.Errorf("%s: %s. %s", problems[0].Attribute, problems[0].Summary, problems[0].Detail)
	}
	record, err := r.loadRecord(ctx, d.Key())
	if err != nil {
		return r.untold(ctx, store.SpotPools, d.Key(), isRecord[declaration.SpotPool], err)
	}
	stored := standing{uid: record.value.Declaration.UID, generation: record.value.Declaration.Generation, phase: record.value.Phase}
	stated := claim{address: p.Address, what: "pool", name: d.Key(), uid: d.UID, generation: d.Generation, older: older}
	if wins, err := r.overrules(ctx, stated, stored); err != nil || !wins {
		return err
	}
	account, err := r.Cloud.AccountID(ctx)
	if err != nil {
		return err
	}
	if account != d.AccountID {
		return &AccountError{Object: d.Object(), Pool: d.AccountID, Credentials: account}
	}
	return r.withLock(ctx, d.Key(), func(ctx context.Context) error {
		if !record.exists() {
			if err := r.acceptObserved(ctx, d); err != nil {
				return err
			}
		}
		_, err := r.saveRecord(ctx, record, declaration.Active, d)
		return err
	})
}

// untold is why a record could not be read, unless it is there and none: then its
// own report says so.
func (r *run) untold(ctx context.Context, kind store.Kind, name string, sound func(data []byte) bool, why error) error {
	docs, err := r.Store.List(ctx, kind)
	if err != nil {
		return why
	}
	for _, doc := range docs {
		if doc.Key.Name == name && !sound(doc.Data) {
			return nil
		}
	}
	return why
}

func isRecord[T declaration.Body](data []byte) bool {
	_, err := declaration.Decode[T]("", data)
	return err == nil
}

// claim is what a state says of one pool or budget.
type claim struct {
	address, what, name, uid string // what: "pool", "budget"
	generation               int64
	older                    string // than which state it is, if any
}

// standing is what the store has of it; zero where it has no record.
type standing struct {
	uid        string
	generation int64
	phase      declaration.Phase
}

// overrules says whether what a state declares is to be recorded. The error says
// why it can't be.
func (r *run) overrules(ctx context.Context, c claim, stored standing) (bool, error) {
	recorded := stored != standing{}
	tombstone, err := r.loadTombstone(ctx, c.uid)
	switch {
	case err != nil:
		return false, err
	case recorded && stored.uid != c.uid:
		return false, fmt.Errorf("the store %s holds another %s under the name %s (uid %s, and the state has %s)", r.Store, c.what, c.name, stored.uid, c.uid)
	case !recorded && tombstone.exists():
		return false, fmt.Errorf("this %s (uid %s) was destroyed at %s: the state is older than that", c.what, c.uid, tombstone.value.DestroyedAt.Format(time.RFC3339))
	case recorded && stored.generation > c.generation:
		r.warn(fmt.Sprintf("%s: the store has a newer declaration (generation %d, and the state has %d), and it is used", c.address, stored.generation, c.generation))
		return false, nil
	case recorded && (stored.generation == c.generation || stored.phase != declaration.Active):
		return false, nil
	case c.older != "":
		return false, errors.New("the store has no record of it, and " + c.older)
	}
	return true, nil
}
