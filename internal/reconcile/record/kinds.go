package record

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// SpotPools is the life of spot pools.
func SpotPools(k Repository) Lifecycle[spotpool.Declaration] {
	return Lifecycle[spotpool.Declaration]{
		refusals: refusals[spotpool.Declaration]{Repository: k, title: "spot pool", noun: "pool", brief: func(key string) string { return key }},
		kind:     store.SpotPools, tombstone: declaration.PoolTombstone,
		decode: decode[declaration.SpotPool], encode: declaration.Encode[declaration.SpotPool],
	}
}

// JournalName names a spot pool's journal, apart from that of an earlier pool of the same
// key.
func JournalName(key, uid string) string { return key + "/" + uid }

// Budgets is the life of budgets.
func Budgets(k Repository) Lifecycle[budget.Declaration] {
	return Lifecycle[budget.Declaration]{
		refusals: refusals[budget.Declaration]{Repository: k, title: "budget", noun: "budget", brief: func(key string) string { return "the budget " + key }},
		kind:     store.Budgets, tombstone: declaration.BudgetTombstone,
		decode: decode[declaration.Budget], encode: declaration.Encode[declaration.Budget],
	}
}

// StockPools is the life of stock pools.
func StockPools(k Repository) Lifecycle[stockpool.Declaration] {
	return Lifecycle[stockpool.Declaration]{
		refusals: refusals[stockpool.Declaration]{
			Repository: k, title: "stock pool", noun: "stock pool", brief: func(key string) string { return "the stock pool " + key },
		},
		kind: store.StockPools, tombstone: declaration.StockTombstone,
		decode: decode[declaration.StockPool], encode: declaration.Encode[declaration.StockPool],
	}
}

// Notifications is the life of notifications.
func Notifications(k Repository) Lifecycle[notification.Declaration] {
	return Lifecycle[notification.Declaration]{
		refusals: refusals[notification.Declaration]{
			Repository: k, title: "notification", noun: "notification", brief: func(key string) string { return "the notification " + key },
		},
		kind: store.Notifications, tombstone: declaration.NotificationTombstone,
		decode: declaration.Decode[declaration.Notification], encode: declaration.Encode[declaration.Notification],
	}
}
