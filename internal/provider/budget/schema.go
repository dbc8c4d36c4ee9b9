package budget

import (
	"context"
	"fmt"
	"maps"
	"math/big"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/numberdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/defaulted"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/timeouts"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
)

// Schema is that of the resource. Numbers that a user writes are of any kind, so
// that one that is not whole is said to be so, and does not fail to be read. It
// has no plan modifiers and no validators: ModifyPlan and ValidateConfig look at
// the whole of a budget at once.
func (r *budgetResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := limitAttributes()
	maps.Copy(attributes, countingAttributes())
	maps.Copy(attributes, computedAttributes())
	attributes["selector"] = selectorAttribute()
	attributes["enforcement"] = enforcementAttribute()
	attributes["timeouts"] = timeoutsAttribute(ctx)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A budget: a limit of GPU-hours for a set of a Kubernetes cluster's pods over a window, with thresholds that are told of and an enforcement. " +
			"The resource is the declaration alone. Usage is counted by each run of `gpupool reconcile`, which also enforces; the data source `gpupool_budget_usage` reads what the last run found.\n\n" +
			"Another `name` replaces the budget; everything else changes it in place, from the next run on. Destroying it lifts its freeze and resumes what it paused. What its pods used stays in the ledger, and a spot pool that still names it gets no more instances.\n\n" +
			"In the cluster this takes the right to `get` the namespace `kube-system` and, to destroy a budget that enforces, those to lift freezes and to scale workloads; `gpupool manifests` prints a ServiceAccount `gpupool-terraform` that has them, and those to the store in a namespace.",
		Attributes: attributes,
	}
}

// limitAttributes say which budget it is, and what its limit is.
func limitAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "Name of the budget, unique in its store: 1 to 50 lower-case letters, digits and hyphens, beginning and ending with a letter or digit. Another name replaces the budget.",
		},
		"gpu_hours": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "The limit in GPU-hours: a decimal above zero and up to a billion, with at most three digits after the point, such as `\"100\"` or `\"12.5\"`. One GPU held for an hour is one GPU-hour; the function `gpu_hours` multiplies. A lower limit enforces nothing before the grace period is over.",
		},
		"window": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Length of a rolling window: what was used that long before now counts. A duration from a minute to 400 days, such as `\"24h\"`, `\"7d\"` or `\"1d12h\"`. Either this or `period` is required.",
		},
		"period": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Period of the calendar, at the beginning of which usage begins at zero again: `day`, `week` (from Monday), `month` or `quarter`.",
		},
		"time_zone": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Time zone in which a `period` begins and ends, by its IANA name such as `\"Asia/Singapore\"`. Where it is left out, UTC. A rolling window has none.",
		},
		"thresholds": schema.ListAttribute{
			Optional: true, Computed: true, ElementType: types.NumberType,
			Default:             listdefault.StaticValue(values.OfNumbers(core.DefaultThresholds())),
			MarkdownDescription: "Percents of the limit that are told of when usage reaches them, whole ones from 1 to 1000, from low to high: in the run's report, and as an Event in each of the pods' namespaces. Default: `[50, 80, 100]`.",
		},
	}
}

func selectorAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Required: true,
		MarkdownDescription: "Whose GPU-hours count. Every part that is given must match, and at least one must be given. " +
			"A pod's labels are taken as they were when it was bound to its node, and its namespace's as they were first seen: relabelling does not move what was used.",
		Attributes: map[string]schema.Attribute{
			"namespaces": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Names of namespaces, in one of which the pod is.",
			},
			"namespace_labels": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Labels that the pod's namespace has, all of them.",
			},
			"match_labels": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Labels that the pod has, all of them.",
			},
			"match_expressions": schema.ListNestedAttribute{
				Optional:            true,
				MarkdownDescription: "Requirements on the pod's labels, all of which are met, as in a label selector of Kubernetes.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"key": schema.StringAttribute{
						Required:            true,
						MarkdownDescription: "Key of the label.",
					},
					"operator": schema.StringAttribute{
						Required:            true,
						MarkdownDescription: "`In`, `NotIn`, `Exists` or `DoesNotExist`. The negative ones also match pods that lack the label.",
					},
					"values": schema.ListAttribute{
						Optional: true, ElementType: types.StringType,
						MarkdownDescription: "Values of the label, for `In` and `NotIn`.",
					},
				}},
			},
		},
	}
}

func enforcementAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true, Computed: true,
		Default:             objectdefault.StaticValue(enforcementValue(core.Declaration{}.WithDefaults().Enforce)),
		MarkdownDescription: "What is done when the limit is reached, and how carefully. Pods of `kube-system`, `kube-public`, `kube-node-lease` and the store's own namespace are never touched, nor is any pod that, or whose namespace, has the annotation or label `gpupool/protected: \"true\"` (see `honour_pod_protection`). Where it is left out, nothing is enforced.",
		Attributes: map[string]schema.Attribute{
			"action":       defaulted.Choice(core.AlertOnly, "`alert_only` tells and does nothing; `freeze` lets no new pods with GPUs of this selector in; `pause` suspends the pods' Jobs and scales their Deployments and StatefulSets to zero; `evict` freezes, and evicts pods by the eviction API, which heeds disruption budgets. A freeze, that of `evict` too, and a pause are undone when usage falls below the limit, or the budget is destroyed."),
			"grace_period": defaulted.Duration(core.DefaultGracePeriod, "How long nothing is enforced, as a duration from `\"0s\"` to `\"30d\"`, such as `\"30m\"`. It runs from the latest of three times: when usage reached the limit, when this limit was applied, and the first run that reported it."),
			"max_evictions_per_run": schema.NumberAttribute{
				Optional: true, Computed: true, Default: numberdefault.StaticBigFloat(big.NewFloat(core.DefaultMaxEvictionsPerRun)),
				MarkdownDescription: fmt.Sprintf("How many pods one run may evict at most, 1 to %d. Default: `%d`.", core.MaxEvictions, core.DefaultMaxEvictionsPerRun),
			},
			"max_grace_period": defaulted.Duration(core.DefaultMaxGracePeriod, "How long pods may take to end while the budget evicts, as a duration from `\"1s\"` to `\"30d\"`: a pod that is evicted gets this or its own `terminationGracePeriodSeconds`, whichever is shorter, and one that is ending already with more than this left gets less time, whoever deleted it."),
			"victim_order":     defaulted.Choice(core.LowestPriority, "Who is evicted first: `lowest_priority`, `newest_start` (the least work is lost), `spot_first` or `largest_usage`."),
			"protected_priority_class": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Priority class at and above whose value pods are never touched. Where the cluster does not have it, no pod is.",
			},
			"protected_namespaces": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Namespaces whose pods count and are never touched.",
			},
			"honour_pod_protection": defaulted.Bool(true, "Whether the annotation or label `gpupool/protected` on a pod itself spares it, which whoever makes the pod can write. With `false` it does not; that of the namespace, `protected_namespaces` and `protected_priority_class` still do."),
			"repause":               defaulted.Bool(false, "Whether `pause` pauses a workload again that someone started since, as `kubectl scale` and `kubectl apply` may. With `false` it is told of, does not count as paused, and goes on."),
			"max_gap":               defaulted.Duration(core.DefaultMaxGap, "The longest gap between two observations after which pods may still be evicted or paused on the strength of estimates, as a duration from `\"1s\"` to `\"30d\"`. After a longer one, what is certain has to reach the limit by itself. A freeze, which ends no pod, does not wait for that."),
		},
	}
}

// countingAttributes say how usage is counted.
func countingAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"count_from":    defaulted.Choice(core.FromScheduled, "From when a pod's time counts: `scheduled`, when its GPUs became its own, or `running`, when its first container started."),
		"vanished_pods": defaulted.Choice(ledger.AtMidpoint, "Where the end of a pod is taken to be that nobody saw ending, between the last run that saw it and the one that missed it: at the former (`last_run`), half-way (`midpoint`) or at the latter (`now`). Such ends are reported as estimated, with a bound."),
		"resource_weights": schema.MapAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "GPUs that one unit of a resource is worth, such as `{ \"nvidia.com/mig-1g.5gb\" = \"1/7\" }`: a number or a fraction, in the place of the default or beside it. Devices by DRA are named by their driver, such as `gpu.nvidia.com`. `\"0\"` leaves a resource out.",
		},
		"model_weights": schema.MapAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Factors by GPU model, as the node's label has it, or by instance type, such as `{ \"Tesla-T4\" = \"0.5\" }`. What is not listed counts once.",
		},
		"breakdown_labels": schema.ListAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Keys of pod labels by which usage is broken down, beside the namespaces.",
		},
		"max_status_age": defaulted.Duration(core.DefaultMaxStatusAge, "How old the last run's judgement may be that lets a spot pool with this `budget` launch, as a duration from `\"1m\"` to `\"30d\"`. An older one, or none, launches nothing."),
	}
}

// computedAttributes are scalars alone: usage is the data source's.
func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"uid": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Random identifier of the budget, given at creation.",
		},
		"generation": schema.Int64Attribute{
			Computed:            true,
			MarkdownDescription: "How often the budget's declaration was written, beginning with 1.",
		},
		"cluster_uid": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Identity of the cluster that the budget belongs to: the uid of its namespace `kube-system`. With another cluster, the budget is neither read nor changed nor destroyed, and a run leaves it alone.",
		},
	}
}

func timeoutsAttribute(ctx context.Context) schema.Attribute {
	const each = "How long %s may take, such as `\"90s\"`; it waits for a run that has the budget's lock. Default: `\"5m\"`."
	return timeouts.Attribute(ctx, "5m", fmt.Sprintf(each, "a creation"), fmt.Sprintf(each, "an update"), fmt.Sprintf(each, "a destruction"))
}
