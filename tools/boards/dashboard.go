package main

import "fmt"

type board struct {
	file, title string
	selections  []selection
	rows        []row
}

type row struct {
	title  string
	panels []panel
}

// panel is a panel of Grafana's type kind, with values in one of Grafana's units.
type panel struct {
	kind, title, unit string
	queries           []query
}

// query is an expression in PromQL, and the name of its series.
type query struct{ expr, legend string }

func q(expr, legend string) query { return query{expr, legend} }

func stat(title, unit string, queries ...query) panel { return panel{"stat", title, unit, queries} }
func series(title, unit string, queries ...query) panel {
	return panel{"timeseries", title, unit, queries}
}
func table(title, unit string, queries ...query) panel { return panel{"table", title, unit, queries} }

// variable is the values that a label has in the series of a metric.
type variable struct{ label, of string }

// selection is a variable under the name by which expressions use it.
type selection struct {
	name string
	variable
}

func (v variable) as(name string) selection { return selection{name, v} }

type object = map[string]any

var datasource = object{"type": "prometheus", "uid": "${datasource}"}

// The grid of Grafana has 24 columns.
const (
	columns     = 24
	statWidth   = 4
	statHeight  = 4
	graphHeight = 8
)

// dashboard returns the JSON model of a dashboard, in Grafana's schema version 39.
func (b board) dashboard() object {
	list := []object{
		{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
		filter(variable{"cluster", "gpupool_declarations"}.as("cluster")),
	}
	for _, s := range b.selections {
		list = append(list, filter(s))
	}
	return object{
		"uid": b.file, "title": b.title, "tags": []string{"gpupool"}, "schemaVersion": 39, "editable": true, "timezone": "browser",
		"time": object{"from": "now-24h", "to": "now"}, "refresh": "1m", "templating": object{"list": list}, "panels": b.panels(),
		"links": []object{{"type": "dashboards", "title": "gpupool", "tags": []string{"gpupool"}, "asDropdown": true, "keepTime": true}},
	}
}

// filter returns a variable of a dashboard. All also matches series without the label.
func filter(s selection) object {
	values := fmt.Sprintf("label_values(%s, %s)", s.of, s.label)
	return object{
		"name": s.name, "label": s.name, "type": "query", "datasource": datasource, "query": object{"query": values, "refId": s.name},
		"definition": values, "refresh": 2, "sort": 1, "includeAll": true, "multi": true, "allValue": ".*",
		"current": object{"text": "All", "value": "$__all"},
	}
}

// panels lays the rows out: numbers in a line above the graphs.
func (b board) panels() []object {
	var list []object
	y := 0
	add := func(p object, x, w, h int) {
		p["id"], p["gridPos"] = len(list)+1, object{"x": x, "y": y, "w": w, "h": h}
		list = append(list, p)
	}
	for _, r := range b.rows {
		add(object{"type": "row", "title": r.title, "collapsed": false, "panels": []object{}}, 0, columns, 1)
		y++
		var stats, graphs []panel
		for _, p := range r.panels {
			if p.kind == "stat" {
				stats = append(stats, p)
			} else {
				graphs = append(graphs, p)
			}
		}
		for n, p := range stats {
			add(p.object(), n*statWidth, statWidth, statHeight)
		}
		if len(stats) > 0 {
			y += statHeight
		}
		for n, p := range graphs {
			w := columns / min(2, len(graphs))
			add(p.object(), n%2*w, w, graphHeight)
			if n%2 == 1 || n == len(graphs)-1 {
				y += graphHeight
			}
		}
	}
	return list
}

func (p panel) object() object {
	var targets []object
	for n, of := range p.queries {
		t := object{"refId": string(rune('A' + n)), "datasource": datasource, "expr": of.expr, "legendFormat": of.legend}
		if p.kind != "timeseries" {
			t["instant"] = true
		}
		if p.kind == "table" {
			t["format"] = "table"
		}
		targets = append(targets, t)
	}
	return object{
		"type": p.kind, "title": p.title, "datasource": datasource, "targets": targets,
		"fieldConfig": object{"defaults": object{"unit": p.unit}, "overrides": []object{}},
	}
}
