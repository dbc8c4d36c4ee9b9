package page

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// rowsAtMost is the most rows of a table on one page.
const rowsAtMost = 20

// overview is the state of all objects, those with trouble first.
type overview struct {
	Path           string // of the page
	Filter         string
	Runs           []string // what is wrong with runs
	Count, Trouble int
	Lists          []list
	Requests       requests
	Limits         []limit
	Shared         []Section // failures of several objects
	Warnings       []string
	Tenant         bool
}

// list is a table of one kind.
type list struct {
	Title, Of, Counts string
	Columns           []string
	Rows              []row
	Page, Pages       int
	Path, Filter      string // of the page
}

// row is one object.
type row struct {
	Object, Name, Link string
	States             []state.State
	Rank               state.Rank
	Cells              []cell
	Details            []string
}

func (r row) needsAttention() bool { return r.Rank < state.Moving }

// cell is a text or a time, and how much of a limit it is; 0 to 100 percent, negative without.
type cell struct {
	Text  string
	At    *time.Time
	Meter int64
	Class string // of the state of the limit, if there is a meter
}

func text(format string, args ...any) cell {
	return cell{Text: fmt.Sprintf(format, args...), Meter: -1}
}

func moment(at *time.Time) cell { return cell{At: at, Text: "-", Meter: -1} }

func (s *site) overview(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, "overview", func(ctx context.Context, v view) (frame, error) {
		report, err := v.Reader.Overview(ctx)
		if err != nil {
			return frame{}, err
		}
		body := v.page("/", report, r.URL.Query())
		if body.Requests, err = v.requests(ctx, open); err == nil {
			body.Limits, err = v.limits(ctx, namespaces(report)...)
		}
		return frame{Title: "Overview", Store: report.Store, At: report.At, Refresh: true, Body: body}, err
	})
}

// kind returns the handler of the page with all objects of one kind.
func (s *site) kind(title string, of func(all, one *reconcile.StatusReport)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.show(w, r, "overview", func(ctx context.Context, v view) (frame, error) {
			all, err := v.Reader.Overview(ctx)
			one := only(all, func(string) bool { return false })
			one.Warnings = nil
			of(&all, &one)
			return frame{Title: title, Store: all.Store, At: all.At, Refresh: true, Body: v.page(r.URL.Path, one, r.URL.Query())}, err
		})
	}
}

// newOverview has all objects, without details.
func newOverview(r reconcile.StatusReport) overview {
	o := overview{Runs: runs(r), Warnings: r.Warnings.Texts(), Lists: allLists(r)}
	for _, l := range o.Lists {
		o.Count += len(l.Rows)
		for _, row := range l.Rows {
			if row.needsAttention() {
				o.Trouble++
			}
		}
	}
	return o
}

// page has the objects of one page of each list, and details of those that are not in sync. Details of
// other objects are not made: they are most of the time that a page takes.
func (v view) page(path string, r reconcile.StatusReport, query url.Values) overview {
	o := newOverview(r)
	o.Path, o.Tenant = path, v.tenant
	o.Filter = strings.TrimSpace(query.Get("q"))
	detailed := map[string]*row{}
	for n := range o.Lists {
		l := &o.Lists[n]
		*l = l.paged(path, o.Filter, query, rowsAtMost)
		for m := range l.Rows {
			if row := &l.Rows[m]; row.Rank < state.Calm {
				detailed[row.Object] = row
			}
		}
	}
	details, shared := v.details(only(r, func(object string) bool { return detailed[object] != nil }))
	o.Shared = shared
	for object, row := range detailed {
		row.Details = append(row.Details, details[object]...)
	}
	o.sort()
	return o
}

// only returns a report without the objects that are not kept, and without notifications.
func only(r reconcile.StatusReport, keep func(object string) bool) reconcile.StatusReport {
	r.Notifications = nil
	r.SpotPools, r.Budgets, r.StockPools = kept(r.SpotPools, keep), kept(r.Budgets, keep), kept(r.StockPools, keep)
	return r
}

func kept[D interface{ Summary() outcome.Summary }](list []D, keep func(object string) bool) []D {
	return slices.DeleteFunc(slices.Clone(list), func(d D) bool { return !keep(d.Summary().Object()) })
}

// sort puts the kinds with the worst objects first.
func (o *overview) sort() {
	slices.SortStableFunc(o.Lists, func(a, b list) int { return cmp.Compare(a.worst(), b.worst()) })
}

// allLists are the tables of all kinds that have objects.
func allLists(r reconcile.StatusReport) []list {
	lists := []list{budgetList(r.Budgets), spotPoolList(r.SpotPools), stockPoolList(r.StockPools), notificationList(r.Notifications)}
	lists = slices.DeleteFunc(lists, func(l list) bool { return len(l.Rows) == 0 })
	for n := range lists {
		lists[n].sort()
	}
	return lists
}

// runs says what is wrong with runs.
func runs(r reconcile.StatusReport) (texts []string) {
	for _, of := range r.Runs {
		if of.Severity() == reason.Warning {
			texts = append(texts, wording.Sentence(of.String()))
		}
	}
	if r.Failing != nil {
		texts = append(texts, "The last runs failed: "+r.Failing.Error.Message)
	}
	return texts
}

func (l *list) sort() {
	slices.SortStableFunc(l.Rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), strings.Compare(a.Name, b.Name)) })
	count := map[string]int{}
	var words []string
	for _, r := range l.Rows {
		word := state.Join(r.States)
		if count[word]++; count[word] == 1 {
			words = append(words, word)
		}
	}
	for n, word := range words {
		words[n] = fmt.Sprintf("%d %s", count[word], word)
	}
	l.Counts = strings.Join(words, " · ")
}

func (l *list) worst() state.Rank {
	if len(l.Rows) == 0 {
		return state.Calm
	}
	return l.Rows[0].Rank
}

// paged returns the rows of one page that have a text in their names or states.
func (l list) paged(path, filter string, query url.Values, most int) list {
	rows := slices.DeleteFunc(slices.Clone(l.Rows), func(r row) bool {
		return !strings.Contains(strings.ToLower(r.Object+" "+state.Join(r.States)), strings.ToLower(filter))
	})
	l.Path, l.Filter, l.Pages = path, filter, max(1, (len(rows)+most-1)/most)
	asked, err := strconv.Atoi(query.Get(l.Of))
	if err != nil {
		asked = 1
	}
	l.Page = min(max(1, asked), l.Pages)
	first := (l.Page - 1) * most
	l.Rows = rows[first:min(len(rows), first+most)]
	return l
}

// Link returns the address of another page of the list.
func (l list) Link(page int) string {
	to := url.Values{l.Of: {strconv.Itoa(page)}}
	if l.Filter != "" {
		to.Set("q", l.Filter)
	}
	return l.Path + "?" + to.Encode()
}

// Previous is the page before this one; 0 if there is none.
func (l list) Previous() int { return l.Page - 1 }

// Next is the next page; 0 if there is none.
func (l list) Next() int {
	if l.Page == l.Pages {
		return 0
	}
	return l.Page + 1
}

func link(parts ...string) string {
	for n := range parts {
		parts[n] = url.PathEscape(parts[n])
	}
	return "/" + strings.Join(parts, "/")
}

func newRow(object, link string, states ...state.State) row {
	_, name, _ := strings.Cut(object, "/")
	return row{Object: object, Name: name, Link: link, States: states, Rank: state.Worst(states)}
}

func budgetList(all []budgets.Description) list {
	l := list{Title: "Budgets", Of: "budgets", Columns: []string{"Used", "GPU-hours", "Limit", "Left", "GPUs now", "Reached at this rate", "Recovers", "As of"}}
	for _, b := range all {
		r := newRow(b.Summary().Object(), link("budgets", b.Name), b.State...)
		r.Cells = budgetCells(b)
		l.Rows = append(l.Rows, r)
	}
	return l
}

// budgetCells are the numbers of a budget. Without a measurement there are none.
func budgetCells(b budgets.Description) []cell {
	limit := text("-")
	if b.LimitGPUHours != nil {
		limit = text("%s", *b.LimitGPUHours)
	}
	u := b.UsageReport
	if u == nil {
		return []cell{text("-"), text("-"), limit, text("-"), text("-"), text("-"), text("-"), text("-")}
	}
	used, left := text("-"), text("-")
	if u.UsedPercent != nil {
		used = cell{Text: fmt.Sprintf("%d%%", *u.UsedPercent), Meter: max(0, min(100, *u.UsedPercent)), Class: b.LimitState().Rank().String()}
	}
	if u.LimitGPUHours != nil {
		limit = text("%s", *u.LimitGPUHours)
	}
	if u.RemainingGPUHours != nil {
		left = text("%s", *u.RemainingGPUHours)
	}
	return []cell{
		used, text("%s", u.ConsumedGPUHours), limit, left, text("%s", u.BurnRateGPUs),
		moment(u.ProjectedExhaustion), moment(u.RecoversAt), moment(&u.AsOf),
	}
}

func spotPoolList(all []spotpools.Description) list {
	title, shared := "Price/h", spotpool.SharedCurrency(all, func(p spotpools.Description) spotpool.Cost { return p.Cost() })
	if shared != "" {
		title = string(shared) + "/h"
	}
	l := list{Title: "Spot pools", Of: "spotpools", Columns: []string{"Capacity", "Minimum", "Shortfall", "Total", "Maximum", title}}
	for _, p := range all {
		r := newRow(p.Summary().Object(), link("spotpools", p.Region, p.Name), p.State)
		r.Cells = []cell{text("-"), text("-"), text("-"), text("-"), text("-"), text("-")}
		if p.Counts != nil {
			r.Cells = []cell{
				text("%d", p.Capacity), text("%d", p.Minimum), text("%d", p.Shortfall), text("%d", p.Total), text("%d", p.Maximum), text("-"),
			}
			if price := p.Cost().Cell(shared); price != "" {
				r.Cells[5] = text("%s", price)
			}
		}
		l.Rows = append(l.Rows, r)
	}
	return l
}

func stockPoolList(all []stockpools.Description) list {
	l := list{Title: "Stock pools", Of: "stockpools", Columns: []string{"Available", "Desired", "In use", "Waiting for a node", "Pods"}}
	for _, p := range all {
		r := newRow(p.Summary().Object(), link("stockpools", p.Namespace, p.Name), p.State)
		r.Cells = []cell{text("-"), text("-"), text("-"), text("-"), text("-")}
		if p.Status != nil {
			r.Cells = []cell{text("%d", p.Available), text("%d", p.Desired), text("%d", p.Allocated), text("%d", p.Waiting), text("%d", p.Replicas)}
		}
		l.Rows = append(l.Rows, r)
	}
	return l
}

// notificationList has the errors of notifications as details. A notification has no page.
func notificationList(all []notifications.Description) list {
	l := list{Title: "Notifications", Of: "notifications", Columns: []string{"Type", "Delivered", "Pending", "Last delivery"}}
	for _, d := range all {
		r := newRow(d.Object(), "", d.State)
		last := text("-")
		if !d.DeliveredAt.IsZero() {
			last = moment(&d.DeliveredAt)
		}
		r.Cells = []cell{text("%s", d.Type), text("%d", d.Delivered), text("%d", d.Pending), last}
		if message := d.Reason().String(); message != "" {
			r.Details = append(r.Details, message)
		}
		if d.Failure != nil {
			r.Details = append(r.Details, "To test it: gpupool notify --test "+d.Name)
		}
		l.Rows = append(l.Rows, r)
	}
	return l
}
