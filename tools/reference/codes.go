package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// A list is the codes of one type, or the numbers of a package with a prefix.
type list struct {
	title  string
	of     name
	prefix string // in any case
}

// has reports whether a constant is in the list.
func (l list) has(v value) bool {
	if l.prefix == "" {
		return v.text != ""
	}
	_, err := strconv.Atoi(v.text)
	return err == nil && strings.HasPrefix(strings.ToLower(v.ident), l.prefix)
}

var lists = []list{
	{title: "Exit codes", of: name{pkg: "cli/process"}, prefix: "exit"},
	{title: "States", of: name{"reconcile/state", "State"}},
	{title: "Outcomes", of: name{"reconcile/outcome", "Outcome"}},
	{title: "Error classes", of: name{"errorclass", "Class"}},
	{title: "Reasons", of: name{"spotpool", "Code"}},
	{title: "Decisions about spot pools", of: name{"spotpool", "Kind"}},
	{title: "Decisions about budgets", of: name{"budget", "Kind"}},
	{title: "Decisions about stock pools", of: name{"stockpool", "Kind"}},
	{title: "Event kinds", of: name{"history", "Kind"}},
	{title: "Phases of records", of: name{"declaration", "Phase"}},
	{title: "Conditions of instances", of: name{"spotpool/decide", "Condition"}},
	{title: "Causes of cooldowns", of: name{"spotpool/markets", "Cause"}},
	{title: "Node health", of: name{"node", "Health"}},
	{title: "Phases of drains", of: name{"node", "Phase"}},
	{title: "Actions of budgets", of: name{"budget", "Action"}},
	{title: "Phases of effects", of: name{"budget", "EffectPhase"}},
	{title: "Phases of stock pools", of: name{"stockpool/decide", "Phase"}},
	{title: "Sources of starts and ends", of: name{"ledger", "Source"}},
}

// codeAnchors returns the anchors of the lists, by type.
func codeAnchors() map[name]string {
	anchors := map[name]string{}
	for _, l := range lists {
		anchors[l.of] = anchor(l.title)
	}
	return anchors
}

// codes writes the page about codes.
func codes(s *source) (string, error) {
	var b strings.Builder
	var failed []error
	for _, l := range lists {
		var rows [][]string
		for _, v := range s.values[l.of] {
			if !l.has(v) {
				continue
			}
			if v.doc == "" {
				failed = append(failed, fmt.Errorf("%s.%s has no comment", l.of.pkg, v.ident))
			}
			rows = append(rows, []string{quoted(v.text), v.doc})
		}
		if len(rows) == 0 {
			failed = append(failed, fmt.Errorf("%s has no values: correct the lists in tools/reference", l.of))
		}
		about := ""
		if doc := s.types[l.of].doc; doc != "" {
			about = sentence(l.of.ident, doc) + "\n\n"
		}
		b.WriteString("## " + l.title + "\n\n" + about + table([]string{"code", "meaning"}, rows) + "\n")
	}
	b.WriteString("## Sentences\n\nSentences about objects, by code. Braces have the names of their arguments.\n\n")
	b.WriteString(table([]string{"code", "text", "remedy"}, sentences()))
	b.WriteString("\n## Kubernetes Events\n\nA run creates these Events about what it did because of a budget.\n\n")
	b.WriteString(table([]string{"reason", "type", "decision"}, events()))
	return b.String(), errors.Join(failed...)
}

// sentences are the codes of the catalog, with their texts.
func sentences() [][]string {
	var rows [][]string
	for _, e := range reason.Catalog() {
		rows = append(rows, []string{quoted(string(e.Code)), e.Text, strings.ReplaceAll(e.Remedy, "\n", " ")})
	}
	return rows
}

// events are the Kubernetes Events, by reason.
func events() [][]string {
	var rows [][]string
	for _, k := range budget.Kinds() {
		if k.Event == nil {
			continue
		}
		kind := "Normal"
		if k.Event.Warning {
			kind = "Warning"
		}
		rows = append(rows, []string{quoted(k.Event.Reason), kind, quoted(string(k.Kind))})
	}
	rows = append(rows, []string{quoted(budget.IneffectiveEvent.Reason), "Warning", "a pause or an eviction is `ineffective`"})
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return rows
}
