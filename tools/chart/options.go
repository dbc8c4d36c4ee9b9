package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// choice is one value of an option.
type choice struct {
	value string
	apply func(o *manifests.Options)
}

// option is an option of the manifests that adds or changes objects. Other options only put a text
// into objects: see placeholders.
type option struct {
	// expression is its value in a template: a text, or a Boolean if there are two choices.
	expression string
	choices    []choice
}

func boolean(expression string, apply func(o *manifests.Options)) option {
	return option{expression, []choice{{"false", func(*manifests.Options) {}}, {"true", apply}}}
}

func whereExists(value, kind string) string {
	return fmt.Sprintf(`and $.Values.%s.enabled ($.Capabilities.APIVersions.Has "monitoring.coreos.com/v1/%s")`, value, kind)
}

// The options, by their place in options.
const (
	mode = iota
	enforcement
	proxy
	monitor
	rule
	mark
	cordon
	remove
	notice
	noticeOn
	stock
	stockIn
	tokens
)

var options = []option{
	mode: {"$.Values.mode", []choice{
		{"serve", func(o *manifests.Options) { o.Mode = manifests.Serve }},
		{"deployment", func(o *manifests.Options) { o.Mode = manifests.Deployment }},
		{"cronjob", func(o *manifests.Options) { o.Mode = manifests.CronJob }},
	}},
	enforcement: {"$.Values.enforcement", []choice{
		{"alert_only", func(o *manifests.Options) { o.Enforcement = budget.AlertOnly }},
		{"freeze", func(o *manifests.Options) { o.Enforcement = budget.Freeze }},
		{"pause", func(o *manifests.Options) { o.Enforcement = budget.Pause }},
		{"evict", func(o *manifests.Options) { o.Enforcement = budget.Evict }},
	}},
	proxy:    boolean("$.Values.serve.behindProxy", func(o *manifests.Options) { o.BehindProxy = true }),
	monitor:  boolean(whereExists("serviceMonitor", "ServiceMonitor"), func(o *manifests.Options) { o.ServiceMonitor = true }),
	rule:     boolean(whereExists("prometheusRule", "PrometheusRule"), func(o *manifests.Options) { o.PrometheusRule = true }),
	mark:     boolean("$.Values.nodes.mark", func(o *manifests.Options) { o.Mark = true }),
	cordon:   boolean("$.Values.nodes.cordon", func(o *manifests.Options) { o.Cordon = true }),
	remove:   boolean("$.Values.nodes.delete", func(o *manifests.Options) { o.Delete = true }),
	notice:   boolean("$.Values.noticeWatch.enabled", func(o *manifests.Options) { o.NoticeWatch = true }),
	noticeOn: boolean("$.Values.noticeWatch.nodeSelector", func(o *manifests.Options) { o.NoticeWatchOn = map[string]string{labelMark: "a"} }),
	stock:    boolean("$.Values.stockPools.enabled", func(o *manifests.Options) { o.Stock.Pools = true }),
	stockIn:  boolean("$.Values.stockPools.namespaces", func(o *manifests.Options) { o.Stock.Namespaces = []string{stockMark} }),
	tokens:   boolean("$.Values.bootstrapGroups", func(o *manifests.Options) { o.BootstrapGroups = []string{groupMark} }),
}

// needs are choices without which others are invalid, in any order.
var needs = []struct{ option, choice, needed, neededChoice int }{
	{proxy, 1, mode, 0},
	{monitor, 1, mode, 0},
	{cordon, 1, mark, 1},
	{cordon, 1, enforcement, 3},
	{remove, 1, mark, 1},
	{noticeOn, 1, notice, 1},
	{stockIn, 1, stock, 1},
}

// Texts in objects that become values.
const (
	labelMark    = "tpl-label"
	stockMark    = "tpl-stock"
	groupMark    = "system:bootstrappers:tpl-group"
	tlsMark      = "tpl-certificate"
	argumentMark = "tpl-argument"
	budgetsMark  = "tpl-budgets"
	timeoutMark  = 7777 * time.Second
)

// placeholders are options whose texts become values.
func placeholders() manifests.Options {
	return manifests.Options{
		Namespace: "tpl-store", RunNamespace: "tpl-run", Image: "tpl-image", Schedule: "7 7 7 7 6", Timeout: timeoutMark,
		CredentialsSecret: "tpl-credentials", Arguments: []string{argumentMark}, Budgets: budgetsMark,
		FreezeSlots: 1,                                // which the template repeats
		Currency:    string(spotpool.Currencies()[0]), // the writer knows its variable
	}
}

// groupsSize is the number of base64 characters of the groups, up to which a policy decodes.
const groupsSize = (len(groupMark) + 2) / 3 * 4

// substitutions are texts in objects, and what a template has in their place.
func substitutions() *strings.Replacer {
	size := `(int (include "gpupool.groupsSize" $))`
	return strings.NewReplacer(
		"{{", `{{ "{{" }}`,
		"tpl-store", "{{ $.Values.namespace }}",
		"tpl-run", `{{ include "gpupool.runNamespace" $ }}`,
		"tpl-image", `{{ include "gpupool.image" $ }}`,
		"tpl-credentials", "{{ $.Values.credentialsSecret }}",
		"7 7 7 7 6", "{{ $.Values.schedule }}",
		fmt.Sprintf("%ds", timeoutMark/time.Second), "{{ int64 $.Values.timeoutSeconds }}s",
		tlsMark, `{{ include "gpupool.tlsSecret" $ }}`,
		hash(budgetsMark), `{{ include "gpupool.budgets" $ | sha256sum }}`,
		stockMark, "{{ $stock }}",
		groupMark, `{{ join "', '" $.Values.bootstrapGroups }}`,
		"["+steps(1)+"]", "[{{ untilStep 0 "+size+` 1 | join ", " }}]`,
		"["+steps(4)+"]", "[{{ untilStep 0 "+size+` 4 | join ", " }}]`,
		fmt.Sprintf("> %d ?", groupsSize), "> {{ "+size+" }} ?",
	)
}

// steps lists the numbers below groupsSize.
func steps(step int) string {
	var list []string
	for n := 0; n < groupsSize; n += step {
		list = append(list, fmt.Sprint(n))
	}
	return strings.Join(list, ", ")
}
