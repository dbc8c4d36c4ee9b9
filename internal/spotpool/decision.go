package spotpool

import (
	"fmt"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"log/slog"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Decision is one change of a spot pool, with its reasons.
type Decision struct {
	// The kind of the decision.
	Kind Kind `json:"kind"`
	// The pool, such as `spot_pool/ap-singapore/train`.
	Object string `json:"object"`
	// The number of instances.
	Count int `json:"count"`
	// The offering of a launch.
	Offering *Offering `json:"offering,omitempty"`
	// The charge type of a launch.
	ChargeType ChargeType `json:"charge_type,omitempty"`
	// The currency of a launch's prices.
	Currency Currency `json:"currency,omitempty"`
	// The sequence number of a launch.
	Sequence int64 `json:"sequence,omitempty"`
	// The client token of a launch, which makes its repetition safe.
	Token string `json:"token,omitempty"`
	// Whether the launch repeats one whose outcome is unknown.
	Resume bool `json:"resume,omitempty"`
	// The launched or affected instances.
	InstanceIDs []string `json:"instance_ids,omitempty"`
	// Whether the decision replaces instances that work.
	Refresh bool `json:"refresh,omitempty"`
	// The node that is drained, uncordoned or deleted.
	Node *node.Node `json:"node,omitempty"`
	// The public part of the bootstrap token that is deleted.
	BootstrapTokenID string `json:"bootstrap_token_id,omitempty"`
	// When Tencent Cloud reclaims the instance whose node is drained.
	TakenAt time.Time `json:"taken_at,omitzero"`
	// The reasons.
	Reasons reason.Reasons `json:"reasons"`

	// Price is the known price of one instance of a launch, for the journal.
	Price Price `json:"-"`
	// Request is the launch in full. It contains user data, so it is not rendered.
	Request *Request `json:"-"`
}

// Object returns the pool's name in decisions, logs and reports.
func (d Declaration) Object() string { return "spot_pool/" + d.Key() }

// String returns the decision and its reasons for people, on one line.
func (d Decision) String() string {
	return wording.Because(d.Summary(), d.Reasons.Texts())
}

// Summary returns the decision without its reasons.
func (d Decision) Summary() string {
	switch d.Kind {
	case KindLaunch:
		verb := "launch"
		if d.Resume {
			verb = fmt.Sprintf("retry launch %d:", d.Sequence)
		}
		return fmt.Sprintf("%s %d %s %s in %s", verb, d.Count, ChargeName(d.ChargeType), d.Offering.InstanceType, d.Offering.AvailabilityZone)
	case KindTerminate:
		if len(d.InstanceIDs) > wording.NamedAtMost {
			return fmt.Sprintf("terminate %d instances, %s", len(d.InstanceIDs), wording.Some(d.InstanceIDs))
		}
		return "terminate " + wording.Some(d.InstanceIDs)
	case KindDrain, KindUncordon:
		return fmt.Sprintf("%s %s, the node %s", d.Kind, wording.Some(d.InstanceIDs), d.Node.Name)
	case KindDeleteNode:
		return fmt.Sprintf("delete the node %s of %s", d.Node.Name, wording.Some(d.InstanceIDs))
	case KindEndToken:
		return fmt.Sprintf("delete the bootstrap token %s of launch %d", d.BootstrapTokenID, d.Sequence)
	}
	return string(d.Kind)
}

// Verb returns the verb with which Summary begins.
func (d Decision) Verb() wording.Verb {
	if d.Kind == KindLaunch && d.Resume {
		return wording.Verb{Base: "retry", Past: "retried"}
	}
	return d.Kind.Data().Verb
}

// LogValue returns the decision's fields for structured logs, without those of Heading.
func (d Decision) LogValue() slog.Value {
	attrs := []slog.Attr{slog.Int("count", d.Count)}
	if d.Offering != nil {
		attrs = append(attrs,
			slog.String("availability_zone", d.Offering.AvailabilityZone),
			slog.String("instance_type", d.Offering.InstanceType),
			slog.String("charge_type", string(d.ChargeType)),
			slog.Int64("sequence", d.Sequence))
	}
	if d.BootstrapTokenID != "" {
		attrs = append(attrs, slog.String("bootstrap_token_id", d.BootstrapTokenID), slog.Int64("sequence", d.Sequence))
	}
	if len(d.InstanceIDs) > 0 {
		attrs = append(attrs, slog.Any("instance_ids", d.InstanceIDs))
	}
	return slog.GroupValue(attrs...)
}

// For returns the decision as a reader of its pool may see it.
func (d Decision) For(reader reason.Renderer) Decision {
	d.Reasons = reader.RedactAll(d.Reasons)
	return d
}

// Heading returns the decision's kind, object and reasons.
func (d Decision) Heading() (kind, object string, reasons reason.Reasons) {
	return string(d.Kind), d.Object, d.Reasons
}

// ChargeName returns the name of a charge type for people.
func ChargeName(charge ChargeType) string {
	if charge == OnDemand {
		return "on-demand"
	}
	return "spot"
}
