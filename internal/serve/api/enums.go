package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	spotdecide "github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	stockdecide "github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// Enums returns the values of each type with a fixed list, without the empty one. States, charge types and
// stock that Tencent Cloud reports have no fixed list.
func Enums() map[reflect.Type][]any {
	var spotKinds, budgetKinds, stockKinds []any
	for _, k := range spotpool.Kinds() {
		spotKinds = append(spotKinds, string(k.Kind))
	}
	for _, k := range budget.Kinds() {
		budgetKinds = append(budgetKinds, string(k.Kind))
	}
	for _, k := range stockpool.Kinds() {
		stockKinds = append(stockKinds, string(k.Kind))
	}
	enums := map[reflect.Type][]any{
		reflect.TypeFor[spotpool.Kind](): spotKinds, reflect.TypeFor[budget.Kind](): budgetKinds, reflect.TypeFor[stockpool.Kind](): stockKinds,
	}
	addEnum(enums, state.States()...)
	addEnum(enums, outcome.Done, outcome.Planned, outcome.Short, outcome.Failed, outcome.Skipped)
	addEnum(enums, errorclass.Classes()...)
	addEnum(enums, history.Kinds()...)
	addEnum(enums, request.States()...)
	addEnum(enums, request.Types()...)
	addEnum(enums, spotpool.Codes()...)
	addEnum(enums, spotpool.Currencies()...)
	addEnum(enums, declaration.Creating, declaration.Active, declaration.Deleting)
	addEnum(enums, spotdecide.Running, spotdecide.Launching, spotdecide.Stuck, spotdecide.Restricted, spotdecide.Stopped, spotdecide.Isolated,
		spotdecide.Failed, spotdecide.Terminating, spotdecide.Unusable)
	addEnum(enums, markets.CausedBySoldOut, markets.CausedByPrice, markets.CausedByQuota, markets.CausedByNotSold, markets.CausedByLoss,
		markets.CausedByLaunchFailed, markets.CausedByNode, markets.CausedByBatch)
	addEnum(enums, spotpool.Priority, spotpool.LowestPrice, spotpool.Balanced)
	addEnum(enums, node.Joining, node.Late, node.Healthy, node.Unready, node.Unhealthy)
	addEnum(enums, node.Asked, node.Draining, node.Done, node.TimedOut, node.Kept)
	addEnum(enums, node.Terminate, node.Keep)
	addEnum(enums, budget.AlertOnly, budget.Freeze, budget.Pause, budget.Evict)
	addEnum(enums, budget.Requested, budget.Ineffective)
	addEnum(enums, budget.LowestPriority, budget.NewestStart, budget.SpotFirst, budget.LargestUsage)
	addEnum(enums, stockdecide.Phases()...)
	addEnum(enums, stockdecide.CountsAvailable, stockdecide.CountsInUse, stockdecide.CountsPending, stockdecide.CountsNothing)
	addEnum(enums, stockpool.ReplicasTotal, stockpool.ReplicasAvailable)
	return enums
}

func addEnum[T ~string](enums map[reflect.Type][]any, values ...T) {
	of := reflect.TypeFor[T]()
	for _, value := range values {
		enums[of] = append(enums[of], string(value))
	}
}

// restrict adds the values of a field's type to its schema. A record that cannot be read has no phase.
func restrict(s *huma.Schema, of reflect.Type, enums map[reflect.Type][]any) {
	if of.Kind() == reflect.Slice && s.Items != nil {
		s, of = s.Items, of.Elem()
	}
	values := enums[of]
	if len(values) == 0 || s.Type != huma.TypeString {
		return
	}
	if of == reflect.TypeFor[declaration.Phase]() {
		values = append([]any{""}, values...)
	}
	s.Enum = values
}
