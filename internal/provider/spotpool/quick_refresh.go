package spotpool

import (
	"context"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/shortcut"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// QuickRefresh refreshes a pool with only the values in the private state. It applies if the
// store's record has the state's generation and currency and there are no warnings. Else Read is called.
func QuickRefresh(ctx context.Context, c *connection.Connection, private map[string][]byte) (shortcut.Refreshed, bool) {
	s, err := decodePrivateState(private[privateKey])
	if err != nil || s == nil || !c.Ready() {
		return shortcut.Refreshed{}, false
	}
	now := s.State
	pool, err := view(ctx, c, core.Declaration{
		Region: now.Region, Name: now.Name, UID: now.UID, AccountID: now.AccountID, Generation: now.Generation,
	})
	if err != nil || pool.Destroyed || !pool.Recorded || len(pool.AllWarnings()) > 0 || pool.Declaration.Generation != now.Generation ||
		pool.Declaration.Currency != now.Currency { // which is not a part of the generation
		return shortcut.Refreshed{}, false
	}
	changed := map[string]tftypes.Value{}
	if capacity := int64(pool.Plan.Capacity); capacity != now.Capacity {
		now.Capacity = capacity
		changed["capacity"] = tftypes.NewValue(tftypes.Number, capacity)
	}
	if now.Planned {
		now.Planned = false
		changed["planned_actions"] = tftypes.NewValue(tftypes.List{ElementType: tftypes.String}, []tftypes.Value{})
	}
	keys, err := privateKeys(pool, now)
	if err == nil {
		keys[connection.StoreKey] = c.StoreMemory(ctx)
	}
	identity := map[string]string{"region": now.Region, "name": now.Name}
	return shortcut.Refreshed{Keys: keys, Values: changed, Identity: identity}, err == nil
}

// StateType is the type of the resource's state.
var StateType = sync.OnceValue(func() tftypes.Type {
	var resp resource.SchemaResponse
	NewResource().Schema(context.Background(), resource.SchemaRequest{}, &resp)
	return resp.Schema.Type().TerraformType(context.Background())
})
