package spotpool

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Decision is one thing to do to a pool, with its reasons.
type Decision struct {
	Kind   Kind   `json:"kind"`
	Object string `json:"object"` // "spot_pool/ap-singapore/train"
	Count  int    `json:"count"`
	// Offering and ChargeType say where and how a launch goes.
	Offering   *Offering  `json:"offering,omitempty"`
	ChargeType ChargeType `json:"charge_type,omitempty"`
	// Sequence is the number of a launch, from which its token follows.
	Sequence int64  `json:"sequence,omitempty"`
	Token    string `json:"token,omitempty"`
	// Resume says that the launch was asked for before, and its outcome never
	// learned.
	Resume bool `json:"resume,omitempty"`
	// InstanceIDs are the instances that were launched, or are to end.
	InstanceIDs []string `json:"instance_ids,omitempty"`
	// Refresh says that the decision replaces instances that work.
	Refresh bool `json:"refresh,omitempty"`
	// Node is the one that is drained, uncordoned or deleted.
	Node *node.Node `json:"node,omitempty"`
	// BootstrapTokenID is the public part of the token that is ended.
	BootstrapTokenID string `json:"bootstrap_token_id,omitempty"`
	// TakenAt is when the cloud takes the instance back for which a node is drained; zero
	// where the pool ends it.
	TakenAt time.Time `json:"taken_at,omitzero"`
	Reasons []string  `json:"reasons"`

	// Price is what one instance of a launch is known to cost; the journal keeps it.
	Price Price `json:"-"`
	// Request is the launch in full. It holds user data, so it is not rendered.
	Request *Request `json:"-"`
}

// Object names a pool in decisions, logs and reports.
func (d Declaration) Object() string { return "spot_pool/" + d.Key() }

// String writes the decision for people, on one line.
func (d Decision) String() string {
	return wording.Because(d.Summary(), d.Reasons)
}

// Summary is String without the reasons.
func (d Decision) Summary() string {
	switch d.Kind {
	case KindLaunch:
		verb := "launch"
		if d.Resume {
			verb = fmt.Sprintf("ask again for launch %d:", d.Sequence)
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
		return fmt.Sprintf("end the bootstrap token %s of launch %d", d.BootstrapTokenID, d.Sequence)
	}
	return string(d.Kind)
}

// Verb is what Summary begins with.
func (d Decision) Verb() wording.Verb {
	if d.Kind == KindLaunch && d.Resume {
		return wording.Verb{Base: "ask", Past: "asked", Regardless: true}
	}
	return d.Kind.Data().Verb
}

// LogValue groups the decision's fields for structured logs, what Heading has
// aside.
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

// Heading is the decision's kind, what it is about, and why it was made.
func (d Decision) Heading() (kind, object string, reasons []string) {
	return string(d.Kind), d.Object, d.Reasons
}

// ChargeName says how people call a charge type.
func ChargeName(charge ChargeType) string {
	if charge == OnDemand {
		return "on-demand"
	}
	return "spot"
}
