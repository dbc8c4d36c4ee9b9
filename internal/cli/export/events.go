package export

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

var eventTable = table[history.Event, history.Row]{
	called: "event", titles: history.Titles(), added: 2, cells: (*history.Event).Cells, // the currency, and the details of the reasons
	place:     func(e *history.Event) place { return place{e.At.UnixMilli(), e.Kind.Rank(), e.ID} },
	rank:      func(cells []string) int { return history.Kind(cells[2]).Rank() },
	toParquet: (*history.Event).Row, parquet: (*history.Row).Event, metadata: [2]string{"gpupool-history", ""},
	part: func(e *history.Event) part { return part{e.ClusterUID, string(history.DayOf(e.At))} },
}

// events tells all that the store's history does.
func (o *options) events(ctx context.Context, from store.Store, tell func(*history.Event) error) error {
	kept := eventlog.Log{Store: from, Now: o.session.Now}
	answer, err := kept.Walk(ctx, history.Query{}, tell)
	if err == nil {
		o.lost = answer.Lost.Texts()
		o.warn(o.lost)
	}
	return err
}
