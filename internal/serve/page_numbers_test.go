package serve_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
)

var (
	shownRow = regexp.MustCompile(`<tr><th scope="row"><(?:a|span) id="([^"]*)"[^>]*>[^<]*</(?:a|span)></th>(.*)</tr>`)
	instant  = regexp.MustCompile(`<time datetime="([^"]*)">[^<]*</time>`)
	tags     = regexp.MustCompile(`<[^>]*>`)
)

// shown are the states and the numbers of each object in the tables of a page.
func shown(page string) map[string]string {
	list := map[string]string{}
	for _, row := range shownRow.FindAllStringSubmatch(page, -1) {
		var cells []string
		for cell := range strings.SplitSeq(instant.ReplaceAllString(row[2], "$1"), "</td>") {
			cells = append(cells, strings.TrimSpace(html.UnescapeString(tags.ReplaceAllString(cell, ""))))
		}
		list[row[1]] = strings.Join(cells[:len(cells)-1], " | ")
	}
	return list
}

// shownOf are the same of a status.
func shownOf(s reconcile.StatusReport) map[string]string {
	list := map[string]string{}
	set := func(object string, states []state.State, cells ...any) {
		texts := []string{strings.ReplaceAll(state.Join(states), ",", " ")}
		for _, cell := range cells {
			texts = append(texts, cellOf(cell))
		}
		list[object] = strings.Join(texts, " | ")
	}
	none := any(nil)
	for _, p := range s.SpotPools {
		if p.Counts == nil {
			set(p.Summary().Object(), []state.State{p.State}, none, none, none, none, none, none)
			continue
		}
		price := none
		if p.HourlyPrice > 0 {
			price = p.HourlyPrice.String()
		}
		set(p.Summary().Object(), []state.State{p.State}, p.Capacity, p.Minimum, p.Shortfall, p.Total, p.Maximum, price)
	}
	for _, b := range s.Budgets {
		if b.UsageReport == nil {
			set(b.Summary().Object(), b.State, none, none, b.LimitGPUHours, none, none, none, none, none)
			continue
		}
		u := b.UsageReport
		used := none
		if u.UsedPercent != nil {
			used = fmt.Sprintf("%d%%", *u.UsedPercent)
		}
		set(b.Summary().Object(), b.State, used, u.ConsumedGPUHours, u.LimitGPUHours, u.RemainingGPUHours, u.BurnRateGPUs, u.ProjectedExhaustion, u.RecoversAt,
			&u.AsOf)
	}
	for _, p := range s.StockPools {
		if p.Status == nil {
			set(p.Summary().Object(), []state.State{p.State}, none, none, none, none, none)
			continue
		}
		set(p.Summary().Object(), []state.State{p.State}, p.Available, p.Desired, p.Allocated, p.Waiting, p.Replicas)
	}
	for _, n := range s.Notifications {
		last := none
		if !n.DeliveredAt.IsZero() {
			last = &n.DeliveredAt
		}
		set(n.Object(), []state.State{n.State}, n.Type, n.Delivered, n.Pending, last)
	}
	return list
}

// cellOf is a value as a page shows it.
func cellOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "-"
	case *string:
		if v != nil {
			return *v
		}
		return "-"
	case *time.Time:
		if v != nil {
			return v.UTC().Format(time.RFC3339)
		}
		return "-"
	}
	return fmt.Sprint(value)
}
