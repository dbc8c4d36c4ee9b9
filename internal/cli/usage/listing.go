package usage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Values of --by and --sort.
const (
	byPod       = "pod"
	byNamespace = "namespace"
	byOwner     = "owner"
	byLabel     = "label:" // followed by its key

	sortHours = "gpu-hours"
	sortName  = "name"
	sortStart = "start"
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
	// The part of the usage that relies on estimates.
	EstimatedGPUHours string `json:"estimated_gpu_hours"`
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

// listing selects the rows and their order.
type listing struct {
	by    string // the value of --by
	label string // its key
	sort  string
	top   int // 0 for all
}

// listing parses the flags about output.
func (o *options) listing() (listing, error) {
	l := listing{by: o.by, sort: o.sort, top: o.top}
	key, labeled := strings.CutPrefix(o.by, byLabel)
	switch reasons := validation.IsQualifiedName(key); {
	case labeled && len(reasons) > 0:
		return l, process.Usagef("--by: invalid label key %q: %s", key, strings.Join(reasons, "; "))
	case labeled:
		l.label = key
	case o.by != byPod && o.by != byNamespace && o.by != byOwner:
		return l, process.Usagef("--by: invalid field %q: use pod, namespace, owner or label:KEY", o.by)
	}
	switch {
	case o.given("top") && o.top < 1:
		return l, process.Usagef("--top must be at least 1, not %d", o.top)
	case l.grouped() && l.sort == sortStart:
		return l, process.Usagef("--sort start needs --by pod")
	case l.sort == "" && (l.grouped() || l.top > 0):
		l.sort = sortHours
	}
	return l, nil
}

func (l listing) grouped() bool { return l.by != byPod }

// title is the column title of a label, as in kubectl.
func (l listing) title() string {
	return strings.ToUpper(l.label[strings.LastIndex(l.label, "/")+1:])
}

// used is one pod and what it used.
type used struct {
	record *ledger.Record
	meter.PodUsage
}

// group is the group of a pod.
func (l listing) group(r *ledger.Record) string {
	switch {
	case l.label != "":
		return r.Set.Labels.Get(l.label)
	case l.by != byOwner:
		return r.Set.Namespace
	case r.Owner == nil:
		return ""
	}
	return r.Set.Namespace + "/" + r.Owner.Kind + "/" + r.Owner.Name
}

// list returns the pods or groups to list.
func (l listing) list(pods []used) ([]Pod, Listed) {
	if l.grouped() {
		return []Pod{}, l.groups(pods)
	}
	name := func(a, b used) int {
		return cmp.Or(
			cmp.Compare(a.record.Set.Namespace, b.record.Set.Namespace), cmp.Compare(a.record.Name, b.record.Name), cmp.Compare(a.record.UID, b.record.UID),
		)
	}
	slices.SortFunc(pods, func(a, b used) int {
		switch l.sort {
		case sortHours:
			return cmp.Or(cmp.Compare(b.Consumed, a.Consumed), name(a, b))
		case sortStart:
			return cmp.Or(a.Start.Compare(b.Start), name(a, b))
		}
		return name(a, b)
	})
	pods, rest := cut(pods, l.top)
	left := int64(0)
	for _, p := range rest {
		left += p.Consumed
	}
	list := make([]Pod, 0, len(pods))
	for _, p := range pods {
		list = append(list, podOf(p))
	}
	return list, Listed{LeftOut: leftOut(len(rest), left)}
}

func (l listing) groups(pods []used) Listed {
	var all meter.Breakdown
	for _, p := range pods {
		all.Add(l.group(p.record), p.record, p.PodUsage)
	}
	parts := all.Parts()
	if l.sort == sortName {
		slices.SortFunc(parts, func(a, b *meter.Part) int { return cmp.Compare(a.Name, b.Name) })
	}
	parts, rest := cut(parts, l.top)
	left := int64(0)
	for _, p := range rest {
		left += p.Consumed
	}
	listed := Listed{By: l.by, Groups: []Group{}, LeftOut: leftOut(len(rest), left)}
	for _, p := range parts {
		listed.Groups = append(listed.Groups, Group{
			Name: p.Name, TrackedPods: p.Pods, ActivePods: p.Active, BurnRateGPUs: budget.MilliGPUs(p.BurnRate()),
			GPUHours: budget.Hours(p.Consumed), EstimatedGPUHours: budget.Hours(p.Estimated), MilliGPUSeconds: p.Consumed,
		})
	}
	return listed
}

// cut splits a list after the first few; 0 is all.
func cut[T any](list []T, top int) (first, rest []T) {
	if top == 0 || top >= len(list) {
		return list, nil
	}
	return list[:top], list[top:]
}

func leftOut(entries int, amount int64) *LeftOut {
	if entries == 0 {
		return nil
	}
	return &LeftOut{Entries: entries, GPUHours: budget.Hours(amount)}
}

// moreText counts omitted entries.
func (l Listed) moreText(what func(n int) string) string {
	if l.LeftOut == nil {
		return ""
	}
	return fmt.Sprintf("%s omitted, with %s GPU-hours\n", what(l.LeftOut.Entries), l.LeftOut.GPUHours)
}
