package fleet

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Known is an instance whose ID was recorded. Recorded IDs are read one by one, since tags
// arrive late and the pages of a listing are not a snapshot.
type Known struct {
	InstanceID string `json:"instance_id"`
	spotpool.Market
	SubnetID string `json:"subnet_id,omitempty"` // if the launch named it
	SeqTag   int64  `json:"seq,omitempty"`       // its tag gpupool/seq, once known
	// RecordedAt is when Tencent Cloud accepted the launch, or else when the instance was
	// first observed or adopted.
	RecordedAt time.Time `json:"recorded_at,omitzero"`
	Seen       bool      `json:"seen,omitempty"`   // was listed since
	Tagged     bool      `json:"tagged,omitempty"` // was listed with the pool's tags
	// UnsettledSince is when the instance was first observed starting or rebooting, or
	// still running after its termination was requested.
	UnsettledSince time.Time `json:"unsettled_since,omitzero"`
	// Ended says that its termination was requested, or observed without a request.
	Ended bool `json:"ended,omitempty"`
	// EndedAt is when the pool requested its termination.
	EndedAt time.Time `json:"ended_at,omitzero"`
	// NoticedAt is when its termination was first observed, if the pool did not request it.
	NoticedAt time.Time `json:"noticed_at,omitzero"`
	// EndReason is why the pool requested its termination.
	EndReason reason.Reason `json:"end_reason,omitzero"`
	// Node is its state as a node, Drain the drain of that, and ReplacedSince since when it is
	// being replaced.
	Node          node.Status `json:"node,omitzero"`
	Drain         node.Drain  `json:"drain,omitzero"`
	ReplacedSince time.Time   `json:"replaced_since,omitzero"`
	// TakenAt is when Tencent Cloud reclaims it, by a notice in force.
	TakenAt time.Time `json:"taken_at,omitzero"`
	// ReportedTakenAt is the TakenAt of the last notice that was reported, until its node is
	// observed without one. So a renewed notice is not reported again.
	ReportedTakenAt time.Time `json:"reported_taken_at,omitzero"`
	// Reach is how many pods of its node are deleted before that.
	Reach node.Reach `json:"reach,omitzero"`
}

// Past is an instance that is gone.
type Past struct {
	InstanceID string    `json:"instance_id"`
	SeqTag     int64     `json:"seq,omitempty"`
	EndedAt    time.Time `json:"ended_at,omitzero"`   // when the pool requested its termination
	NoticedAt  time.Time `json:"noticed_at,omitzero"` // when its termination was observed, if the pool did not request it
	// Node is its state as a node. AbsentSince is when a read of its ID first did not return
	// it, and Confirmed says that another read a minute later did not, either.
	Node        node.Status `json:"node,omitzero"`
	AbsentSince time.Time   `json:"absent_since,omitzero"`
	Confirmed   bool        `json:"confirmed,omitempty"`
	// NodeDeletedAt is when its Node was about to be deleted; zero once that is reported.
	NodeDeletedAt time.Time `json:"node_deleted_at,omitzero"`
	// NodeInUse says that another machine uses its Node, which became Ready, or had the address
	// of another instance, after the instance was gone.
	NodeInUse bool `json:"node_in_use,omitempty"`
}

// GoneAt returns when its termination was requested, or else observed.
func (p Past) GoneAt() time.Time {
	if p.EndedAt.IsZero() {
		return p.NoticedAt
	}
	return p.EndedAt
}

func (k Known) node() history.Node {
	return history.Node{InstanceID: k.InstanceID, Name: k.Node.Name, UID: k.Node.UID}
}

// HistoryInstance returns the instance for events, with its cost.
func (k Known) HistoryInstance(cost spotpool.Cost) history.Instance {
	return history.Instance{
		ID: k.InstanceID, Offering: k.Market.HistoryOffering(k.SubnetID), ChargeType: string(k.ChargeType),
		Price: cost.Price.Text(), Currency: string(cost.Currency),
	}
}

func (k Known) past() Past {
	return Past{InstanceID: k.InstanceID, SeqTag: k.SeqTag, EndedAt: k.EndedAt, NoticedAt: k.NoticedAt, Node: k.Node}
}
