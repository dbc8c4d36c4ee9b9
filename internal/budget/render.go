package budget

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// String writes the decision for people, on one line.
func (d Decision) String() string {
	return wording.Because(d.Summary(), d.Reasons)
}

// Summary is String without the reasons: the kind's verb, and what it is about.
func (d Decision) Summary() string { return d.Verb().Base + " " + d.about() }

func (d Decision) about() string {
	switch d.Kind {
	case KindAlert:
		where := ""
		if len(d.Namespaces) > 0 {
			where = " in " + wording.Some(d.Namespaces)
		}
		return fmt.Sprintf("that %d%% is reached%s", d.Threshold, where)
	case KindFreeze:
		return "no new GPU pods"
	case KindUnfreeze:
		return "the freeze"
	case KindPause, KindResume:
		return d.Owner.String()
	case KindEvict:
		return "the pod " + d.Pod.ref()
	case KindShorten:
		return "the end of the pod " + d.Pod.ref()
	}
	return d.Object
}

// String names the workload: "Deployment ml/train".
func (w Workload) String() string { return w.Kind + " " + w.Namespace + "/" + w.Name }

// LogValue groups the decision's fields for structured logs, what Heading has
// aside.
func (d Decision) LogValue() slog.Value {
	var attrs []slog.Attr
	if d.Kind == KindAlert {
		attrs = append(attrs, slog.Int("threshold", d.Threshold), slog.Any("namespaces", d.Namespaces))
	}
	if d.Pod != nil {
		attrs = append(attrs, slog.String("pod", d.Pod.ref()), slog.String("pod_uid", d.Pod.UID))
	}
	if d.Owner != nil {
		attrs = append(attrs, slog.String("workload", d.Owner.String()))
	}
	return slog.GroupValue(attrs...)
}

// listed writes numbers as a sentence does: "50, 80 and 100".
func listed(numbers []int) string {
	text := fmt.Sprint(numbers[0])
	for n, number := range numbers[1:] {
		between := ", "
		if n == len(numbers)-2 {
			between = " and "
		}
		text += between + fmt.Sprint(number)
	}
	return text
}

// stamp writes a moment for people.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
