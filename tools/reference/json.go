package main

import (
	"errors"
	"strings"
)

// A section describes one type of the JSON.
type section struct {
	title string
	of    name
	with  []name // objects that have the same fields
}

// documents are the JSON documents of commands.
var documents = []section{
	{title: "gpupool reconcile", of: name{"reconcile", "Report"}},
	{title: "gpupool status", of: name{"reconcile", "StatusReport"}},
	{title: "gpupool explain", of: name{"reconcile", "Explanation"}},
	{title: "gpupool wait", of: name{"cli/wait", "report"}},
	{title: "gpupool usage", of: name{"reconcile/usage", "Report"}},
	{title: "gpupool usage of a pod list", of: name{"cli/usage", "Report"}},
	{title: "gpupool usage replay", of: name{"cli/usage", "ReplayReport"}},
	{title: "gpupool history", of: name{"reconcile/eventlog", "Report"}},
	{title: "gpupool export ledger", of: name{"cli/export", "interval"}},
	{title: "gpupool jobs", of: name{"request", "JobList"}},
	{title: "gpupool request", of: name{"cli/request", "report"}},
	{title: "gpupool offers", of: name{"cli/offers", "report"}},
	{title: "gpupool adopt", of: name{"cli/adopt", "report"}},
	{title: "gpupool grant", of: name{"cli/grant", "report"}},
	{title: "gpupool hold", of: name{"cli/hold", "report"}},
	{title: "gpupool release", of: name{"cli/release", "report"}},
	{title: "gpupool store repair", of: name{"cli/store", "report"}},
	{title: "gpupool store move", of: name{"cli/store", "moveReport"}},
	{title: "gpupool version", of: name{"cli", "versionReport"}},
}

// objects are in several documents, or large.
var objects = []section{
	{title: "Decision", of: name{"reconcile/outcome", "resultForm"}, with: []name{{"spotpool", "Decision"}, {"budget", "Decision"}, {"stockpool", "Decision"}}},
	{title: "Decision about a spot pool", of: name{"spotpool", "Decision"}},
	{title: "Decision about a budget", of: name{"budget", "Decision"}},
	{title: "Decision about a stock pool", of: name{"stockpool", "Decision"}},
	{title: "Spot pool", of: name{"reconcile/spotpools", "Report"}},
	{title: "Observed spot pool", of: name{"reconcile/spotpools", "Description"}},
	{title: "Explained spot pool", of: name{"reconcile/spotpools", "Why"}},
	{title: "Instance", of: name{"spotpool/decide", "Member"}},
	{title: "Node", of: name{"node", "Node"}},
	{title: "Drain", of: name{"node", "Drain"}},
	{title: "Cool-down", of: name{"spotpool/markets", "Cooldown"}},
	{title: "Offering", of: name{"spotpool", "Offering"}},
	{title: "Budget", of: name{"reconcile/budgets", "Report"}},
	{title: "Usage", of: name{"reconcile/budgets", "UsageReport"}},
	{title: "Budget in its last run", of: name{"reconcile/budgets", "Description"}},
	{title: "Explained budget", of: name{"reconcile/budgets", "Why"}},
	{title: "Stock pool", of: name{"reconcile/stockpools", "Report"}},
	{title: "Observed stock pool", of: name{"reconcile/stockpools", "Description"}},
	{title: "Explained stock pool", of: name{"reconcile/stockpools", "Why"}},
	{title: "Grant", of: name{"budget", "Grant"}},
	{title: "Hold", of: name{"spotpool", "Hold"}},
	{title: "Job", of: name{"request", "Job"}},
	{title: "Request", of: name{"request", "Request"}},
	{title: "Event", of: name{"history", "Event"}},
	{title: "Pod", of: name{"reconcile/usage", "Pod"}},
	{title: "Error", of: name{"reconcile/outcome", "ErrorReport"}},
	{title: "Failure", of: name{"declaration", "Failing"}},
	{title: "Lock holder", of: name{"store", "Holder"}},
}

const jsonIntro = `Within one ` + "`schema_version`" + `, fields are added, and never changed or removed.
` + "`gpupool reconcile --every`" + ` prints one document a line. Other commands print one document.

- A **time** is in UTC, as in RFC 3339.
- A **decimal string** is an exact amount of money. The field ` + "`currency`" + ` of its object, or of the one around it, ` +
	`names its currency. GPU-hours are strings with three digits after the point.
- A **duration** is a string such as ` + "`15m`" + `.
- An **optional** field is absent if it is empty. What could not be observed is absent too, and never 0.
- ` + "`[]`" + ` in a path stands for the elements of an array, ` + "`KEY`" + ` for the keys of a map, and ` + "`…`" + ` for all fields of another object.

`

// sameFields is the meaning of a row that refers to another object.
const sameFields = "All fields of that object."

// fieldsByKind is the meaning of a row that refers to one of several objects.
const fieldsByKind = "All fields of that object, if `object` is of this kind."

// fields writes the page about JSON.
func fields(s *source) (string, error) {
	links := map[name]string{}
	for _, o := range objects {
		links[o.of] = "[" + strings.ToLower(o.title) + "](#" + anchor(o.title) + ")"
	}
	var b strings.Builder
	b.WriteString(jsonIntro)
	var failed []error
	write := func(mark string, of section) {
		rows, err := s.walkFields(of.of, links)
		failed = append(failed, err)
		b.WriteString(mark + " " + of.title + "\n\n" + sentence(of.of.ident, s.types[of.of].doc) + "\n\n")
		var cells [][]string
		for _, other := range of.with {
			cells = append(cells, []string{quoted("…"), links[other], fieldsByKind})
		}
		for _, r := range rows {
			cells = append(cells, []string{quoted(r.path), r.kind, r.meaning})
		}
		b.WriteString(table([]string{"field", "type", "meaning"}, cells) + "\n")
	}
	for _, d := range documents {
		write("##", d)
	}
	b.WriteString("## Objects\n\n")
	for _, o := range objects {
		write("###", o)
	}
	return b.String(), errors.Join(failed...)
}

// anchor returns the anchor of a heading, as GitHub makes it.
func anchor(heading string) string { return strings.ReplaceAll(strings.ToLower(heading), " ", "-") }
