package page

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"html/template"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// reportBytes is the most that a report may have.
const reportBytes = 2_000_000

// The most objects that a report describes, the worst ones, and the most events that it lists.
const (
	describedAtMost = 50
	reportedAtMost  = 500
)

// report is everything in one file. Its links are within the file.
type report struct {
	overview
	Objects []object
	Omitted int
	Events  []event
	Scripts []template.JS
}

// Report returns the page as one file that needs no server. It has at most 2 MB.
func Report(ctx context.Context, o Options) ([]byte, error) {
	v := view{Options: o} // for the operator
	status, err := v.Reader.Overview(ctx)
	if err != nil {
		return nil, err
	}
	recent, err := v.Reader.Events(ctx, EventQuery{Since: "24h", Limit: reportedAtMost})
	if err != nil {
		return nil, err
	}
	r := report{overview: v.newReportOverview(status), Events: v.newestFirst(recent.Events)}
	if r.Requests, err = v.requests(ctx, open); err != nil {
		return nil, err
	}
	for _, file := range []string{"uPlot.iife.min.js", "page.js"} {
		r.Scripts = append(r.Scripts, template.JS(assetText(file))) //nolint:gosec // our own
	}
	all := r.worst()
	for _, of := range all[:min(len(all), describedAtMost)] {
		described, err := v.newObject(ctx, of, status)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", of, err)
		}
		x, err := v.Reader.Explain(ctx, of)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", of, err)
		}
		described.Teams = nil
		described.HistoryLink, described.Explanation = "", v.Words.Explanation(x, false)
		described.ExplainedAt = x.At
		r.Objects = append(r.Objects, described)
	}
	f := frame{Title: "gpupool report", Store: status.Store, At: status.At, Version: v.Version}
	for {
		r.Omitted = len(all) - len(r.Objects)
		r.link(all[:len(r.Objects)])
		f.Body = r
		var text bytes.Buffer
		if err := templates()["report"].ExecuteTemplate(&text, "report", f); err != nil {
			return nil, err
		}
		switch {
		case text.Len() <= reportBytes:
			return text.Bytes(), nil
		case len(r.Objects) == 0:
			return nil, fmt.Errorf("the report has %d bytes, more than %d: use gpupool serve", text.Len(), reportBytes)
		}
		r.Objects = r.Objects[:len(r.Objects)/2]
	}
}

// newReportOverview has all rows.
func (v view) newReportOverview(status reconcile.StatusReport) overview {
	o := newOverview(status)
	details, shared := v.details(status)
	o.Shared = shared
	for n := range o.Lists {
		l := &o.Lists[n]
		l.Page, l.Pages = 1, 1
		for m := range l.Rows {
			l.Rows[m].Details = append(l.Rows[m].Details, details[l.Rows[m].Object]...)
		}
	}
	o.sort()
	return o
}

// link links the rows of the described objects to their descriptions.
func (r report) link(described []string) {
	for _, l := range r.Lists {
		for n := range l.Rows {
			row := &l.Rows[n]
			row.Link = ""
			if slices.Contains(described, row.Object) {
				row.Link = "#about-" + row.Object
			}
		}
	}
}

// rowLink is the row of an object in a report; empty for what has none.
func rowLink(object string) string {
	if linkOf(object) == "" {
		return ""
	}
	return "#" + object
}

// worst are the names of all objects with a page, the worst first.
func (r report) worst() (names []string) {
	var rows []row
	for _, l := range r.Lists {
		rows = append(rows, slices.DeleteFunc(slices.Clone(l.Rows), func(r row) bool { return linkOf(r.Object) == "" })...)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.Rank, b.Rank) })
	for _, r := range rows {
		names = append(names, r.Object)
	}
	return names
}
