package record

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// StoreKey is the key, in a resource's private state, of the store that last had its record.
const StoreKey = declaration.StoreKey

// RememberedStore is the value of StoreKey.
type RememberedStore = declaration.RememberedStore

// Older names a newer state of the same lineage that was seen before; empty if this is the
// newest, or has no serial and lineage. It remembers the newest.
func (k Repository) Older(ctx context.Context, state *declaration.TerraformState) (string, error) {
	if state.Serial == nil || state.Lineage == "" {
		return "", nil
	}
	name := stateName(state.Lineage)
	seen, err := Load[declaration.State](ctx, k.Store, store.States, name)
	if err != nil {
		return "", err
	}
	if seen.Exists() && seen.Value.Serial > *state.Serial {
		return fmt.Sprintf("this state has serial %d, and the newest one of its lineage has serial %d", *state.Serial, seen.Value.Serial), nil
	}
	if seen.Exists() && seen.Value.Serial == *state.Serial {
		return "", nil
	}
	_, err = Save(ctx, k.Store, store.States, name, seen, declaration.State{
		Lineage: state.Lineage, Serial: *state.Serial, SeenAt: k.Now(),
	})
	return "", err
}

// stateName names a lineage's document. A lineage is usually a UUID, but
// Terraform takes any text.
func stateName(lineage string) string {
	sum := sha256.Sum256([]byte(lineage))
	return hex.EncodeToString(sum[:16])
}
