package notification

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	core "github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
)

// Schema has no plan modifiers and no validators: ModifyPlan and ValidateConfig check the whole
// notification at once.
func (r *notificationResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Messages about events of pools and budgets, to a chat, a pager or a webhook. Each `gpupool reconcile` run sends the events " +
			"since the last run. It retries a message that was not delivered, and such a failure never fails a run: `gpupool status` and each " +
			"plan report it.\n\nThe address and the secret of the receiver are write-only: neither the state nor a plan contains them. " +
			"They may come from ephemeral values. The store contains them.\n\nChanging `name` forces replacement. All other changes are made " +
			"in place, and apply from the next run. A new notification reports the events from its creation on. It needs only the store: " +
			"neither Tencent Cloud credentials nor a cluster, unless the store is in a cluster.",
		Attributes: map[string]schema.Attribute{
			"name": kit.Text(kit.Required, "Name of the notification, unique in its store. Use 1 to 50 lower-case letters, digits and hyphens, with a letter "+
				"or digit first and last. Changing this forces replacement."),
			"type": kit.Text(kit.Required, "Protocol of the receiver: "+typeNames()+"."),
			"url_wo": writeOnly("Address that the receiver gave you. Required for all types except `pagerduty`, which has a default. It starts with " +
				"`https://`, except in a network of your own for `alertmanager` and `webhook`. Requires `url_wo_version`."),
			"url_wo_version": kit.Whole(kit.Optional, version("url_wo")),
			"secret_wo": writeOnly("Secret of the receiver: the integration key of `pagerduty` (required), the signing secret of `dingtalk`, `feishu` or " +
				"`webhook`, or the bearer token of `alertmanager`. The other types have none. Requires `secret_wo_version`."),
			"secret_wo_version": kit.Whole(kit.Optional, version("secret_wo")),
			"events":            kit.Texts(kit.Optional, "Kinds of events to report, as `gpupool history` names them. Default: "+defaultEvents()+"."),
			"objects": kit.Texts(kit.Optional, "Objects to report about, as names or globs: `budget/NAME`, `spot_pool/REGION/NAME`, "+
				"`stock_pool/NAMESPACE/NAME`, `run`, or such as `\"budget/team-*\"`. A `*` does not match `/`. If omitted, all."),
			"thresholds": schema.ListAttribute{
				Optional: true, ElementType: types.NumberType,
				MarkdownDescription: "Alert thresholds to report, in percent of the limit. They select from the `thresholds` of the budgets. If omitted, all.",
			},
			"digest": kit.Text(kit.Optional, "Time for which events are collected in one message, from `\"1m\"` to `\"24h\"`. If omitted, each run sends its "+
				"events. Conflicts with the types `pagerduty` and `alertmanager`."),
			"quiet_hours": kit.Object(kit.Optional, "Hours of each day in which only critical events are sent: `exceeded`, `run_failed` and `loss`. The "+
				"others wait until the end.", quietHoursAttributes()),
			"time_zone": kit.Text(kit.Optional, "Time zone of `quiet_hours` and of the times in messages, as an IANA name such as `\"Asia/Shanghai\"`. If "+
				"omitted, UTC."),
			"page_url": kit.Text(kit.Optional, "Address of `gpupool serve`, such as `\"https://gpupool.example.com\"`. If set, messages link to the pages of "+
				"their objects."),
			"uid":        kit.Text(kit.Computed, "Random identifier of the notification, set at creation."),
			"generation": kit.Whole(kit.Computed, "Version of the notification's declaration, starting at 1."),
			"timeouts":   timeoutsAttribute(ctx),
		},
	}
}

func writeOnly(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Sensitive: true, WriteOnly: true, MarkdownDescription: description}
}

func version(of string) string {
	return fmt.Sprintf("Version of `%[1]s`, 1 or more. Change it to apply a changed `%[1]s`. With the same version, the store keeps its value.", of)
}

func typeNames() string {
	var names []string
	for _, t := range core.Types() {
		names = append(names, "`"+string(t)+"`")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func defaultEvents() string {
	var names []string
	for _, kind := range core.DefaultEvents() {
		names = append(names, "`"+string(kind)+"`")
	}
	return strings.Join(names, ", ")
}

func timeoutsAttribute(ctx context.Context) schema.Attribute {
	each := func(operation string) string {
		return fmt.Sprintf("Timeout of %s, such as `\"90s\"`. It includes the wait for the notification's lock. Default: `%q`.", operation,
			duration.String(defaultTimeout))
	}
	return kit.TimeoutsAttribute(ctx, defaultTimeout, each("a creation"), each("an update"), each("a destruction"))
}
