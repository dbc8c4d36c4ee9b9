package usage

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Groupings and orders of a listing.
const (
	ByPod       = "pod"
	ByNamespace = "namespace"
	ByOwner     = "owner"
	ByLabel     = "label:" // followed by its key

	SortHours = "gpu-hours"
	SortName  = "name"
	SortStart = "start"
)

// Listed is the part of the JSON of usage with groups and omitted entries.
type Listed struct {
	// The grouping: `namespace`, `owner` or `label:KEY`. The list of pods is then empty.
	By string `json:"by,omitempty"`
	// The groups.
	Groups []Group `json:"groups,omitzero"`
	// Entries that `--top` left out. Absent if there are none.
	LeftOut *LeftOut `json:"left_out,omitempty"`
}

// Group is the usage of the pods of one namespace, owner or label value in the window.
type Group struct {
	// The namespace or the value of the label. Empty for pods without the label.
	Name string `json:"name"`
	// Pods that held GPUs inside the window.
	TrackedPods int `json:"tracked_pods"`
	// Pods that hold GPUs now.
	ActivePods int `json:"active_pods"`
	// The GPUs that these pods hold.
	BurnRateGPUs string `json:"burn_rate_gpus"`
	// The usage inside the window.
	GPUHours string `json:"gpu_hours"`
	// The part of the usage that relies on estimated ends of pods.
	EstimatedGPUHours string `json:"estimated_gpu_hours"`
	// GPU-hours in addition to the usage that only the pods themselves claim. They count for nothing. Absent if there are none.
	UnconfirmedGPUHours string `json:"unconfirmed_gpu_hours,omitempty"`
	// The usage in milli-GPU-seconds.
	MilliGPUSeconds int64 `json:"milli_gpu_seconds"`
}

// LeftOut counts the rows that are not listed but are part of totals.
type LeftOut struct {
	// The number of entries that are not listed.
	Entries int `json:"entries"`
	// Their usage.
	GPUHours string `json:"gpu_hours"`
}

// NewLeftOut returns the omitted entries, with their usage; nil if there are none.
func NewLeftOut(entries int, amount int64) *LeftOut {
	if entries == 0 {
		return nil
	}
	return &LeftOut{Entries: entries, GPUHours: budget.Hours(amount)}
}

// Listing selects the rows and their order.
type Listing struct {
	By    string // the grouping
	Label string // its key
	Sort  string
	Top   int // 0 for all
}

// GroupBy returns the listing with a grouping.
func GroupBy(by string) (Listing, error) {
	l := Listing{By: by}
	key, labeled := strings.CutPrefix(by, ByLabel)
	switch reasons := validation.IsQualifiedName(key); {
	case labeled && len(reasons) > 0:
		return l, fmt.Errorf("invalid label key %q: %s", key, strings.Join(reasons, "; "))
	case labeled:
		l.Label = key
	case by != ByPod && by != ByNamespace && by != ByOwner:
		return l, fmt.Errorf("invalid field %q: use pod, namespace, owner or label:KEY", by)
	}
	return l, nil
}

// WithDefaults sets the order of a listing without one.
func (l Listing) WithDefaults() Listing {
	if l.Sort == "" && (l.Grouped() || l.Top > 0) {
		l.Sort = SortHours
	}
	return l
}

// Grouped reports whether the listing has groups instead of pods.
func (l Listing) Grouped() bool { return l.By != ByPod }

// Used is one pod and its usage.
type Used struct {
	Record *ledger.Record
	meter.PodUsage
}

// group is the group of a pod.
func (l Listing) group(r *ledger.Record) string {
	switch {
	case l.Label != "":
		return r.Set.Labels.Get(l.Label)
	case l.By != ByOwner:
		return r.Set.Namespace
	case r.Owner == nil:
		return ""
	}
	kind, name := workloadOf(r)
	return r.Set.Namespace + "/" + kind + "/" + name
}

// HashLabel is the label by which a Deployment names its ReplicaSets.
const HashLabel = "pod-template-hash"

// workloadOf returns what owns a pod for people: the Deployment of its ReplicaSet, or the CronJob of its Job.
func workloadOf(r *ledger.Record) (kind, name string) {
	kind, name = r.Owner.Kind, r.Owner.Name
	if hash := r.Set.Labels.Get(HashLabel); kind == "ReplicaSet" && hash != "" {
		if of, found := strings.CutSuffix(name, "-"+hash); found {
			return "Deployment", of
		}
	}
	if at := strings.LastIndexByte(name, '-'); kind == "Job" && at > 0 {
		// A CronJob names its Jobs by the scheduled minute since 1970, which is shortly before the pod starts.
		minute, err := strconv.ParseInt(name[at+1:], 10, 64)
		scheduled := time.Unix(minute*60, 0)
		if late := r.Start.At.Time().Sub(scheduled); err == nil && late > -time.Hour && late < 31*24*time.Hour {
			return "CronJob", name[:at]
		}
	}
	return kind, name
}

// List returns the pods or groups to list.
func (l Listing) List(pods []Used) ([]Pod, Listed) {
	if l.Grouped() {
		return []Pod{}, l.groups(pods)
	}
	name := func(a, b Used) int {
		return cmp.Or(
			cmp.Compare(a.Record.Set.Namespace, b.Record.Set.Namespace), cmp.Compare(a.Record.Name, b.Record.Name), cmp.Compare(a.Record.UID, b.Record.UID),
		)
	}
	slices.SortFunc(pods, func(a, b Used) int {
		switch l.Sort {
		case SortHours:
			return cmp.Or(cmp.Compare(b.Consumed, a.Consumed), name(a, b))
		case SortStart:
			return cmp.Or(a.Start.Compare(b.Start), name(a, b))
		}
		return name(a, b)
	})
	pods, rest := Cut(pods, l.Top)
	left := int64(0)
	for _, p := range rest {
		left += p.Consumed
	}
	list := make([]Pod, 0, len(pods))
	for _, p := range pods {
		list = append(list, newPod(p))
	}
	return list, Listed{LeftOut: NewLeftOut(len(rest), left)}
}

func (l Listing) groups(pods []Used) Listed {
	var all meter.Breakdown
	for _, p := range pods {
		all.Add(l.group(p.Record), p.Record, p.PodUsage)
	}
	parts := all.Parts()
	if l.Sort == SortName {
		slices.SortFunc(parts, func(a, b *meter.Part) int { return cmp.Compare(a.Name, b.Name) })
	}
	parts, rest := Cut(parts, l.Top)
	left := int64(0)
	for _, p := range rest {
		left += p.Consumed
	}
	listed := Listed{By: l.By, Groups: []Group{}, LeftOut: NewLeftOut(len(rest), left)}
	for _, p := range parts {
		listed.Groups = append(listed.Groups, Group{
			Name: p.Name, TrackedPods: p.Pods, ActivePods: p.Active, BurnRateGPUs: budget.MilliGPUs(p.BurnRate()),
			GPUHours: budget.Hours(p.Consumed), EstimatedGPUHours: budget.Hours(p.Estimated), UnconfirmedGPUHours: unconfirmed(p.Unconfirmed),
			MilliGPUSeconds: p.Consumed,
		})
	}
	return listed
}

// unconfirmed returns unconfirmed GPU-hours; empty if there are none.
func unconfirmed(amount int64) string {
	if amount == 0 {
		return ""
	}
	return budget.Hours(amount)
}

// Cut splits a list after the first few; 0 is all.
func Cut[T any](list []T, top int) (first, rest []T) {
	if top == 0 || top >= len(list) {
		return list, nil
	}
	return list[:top], list[top:]
}
