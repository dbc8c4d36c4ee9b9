package budget

import (
	"fmt"
	"log/slog"
	"strings"
)

// String writes the decision for people, on one line.
func (d Decision) String() string {
	because := ""
	if len(d.Reasons) > 0 {
		because = ": " + strings.Join(d.Reasons, "; ")
	}
	return d.Summary() + because
}

// Summary is String without the reasons.
func (d Decision) Summary() string {
	switch d.Kind {
	case KindAlert:
		where := ""
		if len(d.Namespaces) > 0 {
			where = " in " + some(d.Namespaces)
		}
		return fmt.Sprintf("alert that %d%% is reached%s", d.Threshold, where)
	case KindFreeze:
		return "freeze: no new GPU pods"
	case KindUnfreeze:
		return "lift the freeze"
	case KindSuspend:
		return "pause " + d.Owner.String()
	case KindResume:
		return "resume " + d.Owner.String()
	case KindEvict:
		return "evict the pod " + d.Pod.ref()
	case KindShorten:
		return "shorten the end of the pod " + d.Pod.ref()
	}
	return string(d.Kind)
}

// String names the workload: "Deployment ml/train".
func (w Workload) String() string { return w.Kind + " " + w.Namespace + "/" + w.Name }

// LogValue groups the decision's fields for structured logs.
func (d Decision) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("kind", string(d.Kind)), slog.String("object", d.Object), slog.Any("reasons", d.Reasons),
	}
	if d.Kind == KindAlert {
		attrs = append(attrs, slog.Int("threshold", d.Threshold), slog.Any("namespaces", d.Namespaces))
	}
	if d.Pod != nil {
		attrs = append(attrs, slog.String("pod", d.Pod.ref()), slog.String("pod_uid", d.Pod.UID))
	}
	if d.Owner != nil {
		attrs = append(attrs, slog.String("owner", d.Owner.String()))
	}
	return slog.GroupValue(attrs...)
}
