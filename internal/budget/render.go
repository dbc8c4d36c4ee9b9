package budget

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// String writes the decision for people, on one line.
func (d Decision) String() string {
	return wording.Because(d.Summary(), d.Reasons.Texts())
}

// Summary returns String without the reasons.
func (d Decision) Summary() string { return d.Verb().Base + " " + d.about() }

func (d Decision) about() string {
	switch d.Kind {
	case KindAlert:
		where := ""
		if len(d.Namespaces) > 0 {
			where = " in " + wording.Some(d.Namespaces)
		}
		return fmt.Sprintf("that %s %s reached%s", d.Reached(), wording.Plural(len(d.Thresholds), "is", "are"), where)
	case KindFreeze:
		return "new GPU pods"
	case KindUnfreeze:
		return "the freeze"
	case KindPause, KindResume:
		return d.Owner.String()
	case KindEvict:
		return "the pod " + d.Pod.String()
	case KindShorten:
		return "the end of the pod " + d.Pod.String()
	}
	return d.Object
}

// Victim returns the name of the pod or workload that the decision changes, or "".
func (d Decision) Victim() string {
	switch {
	case d.Pod != nil:
		return d.Pod.String()
	case d.Owner != nil:
		return d.Owner.String()
	}
	return ""
}

// Several returns the object of several decisions of the same kind.
func (d Decision) Several(n int) string {
	switch {
	case d.Kind == KindShorten:
		return fmt.Sprintf("the end of %d pods", n)
	case d.Pod != nil:
		return fmt.Sprintf("%d pods", n)
	}
	return fmt.Sprintf("%d workloads", n)
}

// String names the workload: "Deployment ml/train".
func (w Workload) String() string { return w.Kind + " " + w.Namespace + "/" + w.Name }

// LogValue groups the decision's fields for structured logs, apart from those of Heading.
func (d Decision) LogValue() slog.Value {
	var attrs []slog.Attr
	if d.Kind == KindAlert {
		attrs = append(attrs, slog.Any("thresholds", d.Thresholds), slog.Any("namespaces", d.Namespaces))
	}
	if d.Pod != nil {
		attrs = append(attrs, slog.String("pod", d.Pod.String()), slog.String("pod_uid", d.Pod.UID))
	}
	if d.Owner != nil {
		attrs = append(attrs, slog.String("workload", d.Owner.String()))
	}
	return slog.GroupValue(attrs...)
}

// Reached returns the thresholds of an alert: "50, 80 and 100%".
func (d Decision) Reached() string { return enumeration(d.Thresholds) + "%" }

func enumeration(numbers []int) string {
	texts := strings.Fields(strings.Trim(fmt.Sprint(numbers), "[]"))
	if last := len(texts) - 1; last > 0 {
		return strings.Join(texts[:last], ", ") + " and " + texts[last]
	}
	return strings.Join(texts, "")
}
