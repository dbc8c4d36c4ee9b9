package export

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/memory"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

var eventTable = table[history.Event]{
	called: "event", titles: history.Titles(), cells: (*history.Event).Cells,
	toParquet: history.Parquet, parquet: history.FromParquet,
	part: func(e *history.Event) part { return part{e.ClusterUID, string(history.DayOf(e.At))} },
}

// events are all that the store's history tells.
func (o *options) events(ctx context.Context, place store.Store) ([]history.Event, error) {
	kept := memory.Memory{Store: place, Now: o.session.Now}
	answer, err := kept.Ask(ctx, history.Query{})
	if err != nil {
		return nil, err
	}
	o.warn(answer.Lost)
	return answer.Events, nil
}
