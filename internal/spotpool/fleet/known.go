package fleet

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Known is an instance whose id was recorded. Recorded ids are looked up one by one
// as well, since tags arrive late and the pages of a listing are no snapshot.
type Known struct {
	InstanceID string `json:"instance_id"`
	spotpool.Market
	SubnetID string `json:"subnet_id,omitempty"` // where the launch said so
	SeqTag   int64  `json:"seq,omitempty"`       // its tag gpupool/seq, once known
	// RecordedAt is when the cloud accepted the launch, or else when the instance was
	// first seen or adopted.
	RecordedAt time.Time `json:"recorded_at,omitzero"`
	Seen       bool      `json:"seen,omitempty"`   // was listed since
	Tagged     bool      `json:"tagged,omitempty"` // was listed with the pool's tags
	// UnsettledSince is when the instance was first seen starting or rebooting,
	// or still running after its end was asked for.
	UnsettledSince time.Time `json:"unsettled_since,omitzero"`
	// Ended says that its end was asked for, or that it ended unasked and this was
	// noticed.
	Ended bool `json:"ended,omitempty"`
	// EndedAt is when its end was asked for, where the pool did.
	EndedAt time.Time `json:"ended_at,omitzero"`
	// NoticedAt is when its end was first noticed, where the pool did not ask for it.
	NoticedAt time.Time `json:"noticed_at,omitzero"`
	// EndReason is why the pool asked for its end.
	EndReason string `json:"end_reason,omitempty"`
	// Node is what is stored of it as a node, Drain how far that is emptied, and
	// ReplacedSince since when another is to take its place.
	Node          node.Status `json:"node,omitzero"`
	Drain         node.Drain  `json:"drain,omitzero"`
	ReplacedSince time.Time   `json:"replaced_since,omitzero"`
	// TakenAt is when the cloud takes it back, by a notice that is in force.
	TakenAt time.Time `json:"taken_at,omitzero"`
	// ReportedTakenAt is the TakenAt of the last notice that was reported, in force or not, until
	// its node is seen without one: a notice that is renewed, or was not seen for a while,
	// is no news.
	ReportedTakenAt time.Time `json:"told_taken_at,omitzero"`
}

// Past is an instance that is gone.
type Past struct {
	InstanceID string    `json:"instance_id"`
	SeqTag     int64     `json:"seq,omitempty"`
	EndedAt    time.Time `json:"ended_at,omitzero"`   // when the pool asked for its end
	NoticedAt  time.Time `json:"noticed_at,omitzero"` // when its end was noticed, where the pool did not ask
	// Node is the node that it was. AbsentSince is when the cloud first said, asked for
	// its id, that there is no such instance, and Confirmed that it said so again a
	// minute later.
	Node        node.Status `json:"node,omitzero"`
	AbsentSince time.Time   `json:"absent_since,omitzero"`
	Confirmed   bool        `json:"confirmed,omitempty"`
	// NodeDeletedAt is when its Node was about to be deleted; zero once that is reported.
	NodeDeletedAt time.Time `json:"node_deleted_at,omitzero"`
	// NodeInUse says that another machine uses its Node: that became Ready, or had the
	// address of another instance, after the instance was gone for sure.
	NodeInUse bool `json:"node_in_use,omitempty"`
}

// GoneAt is when its end was asked for, or else noticed.
func (p Past) GoneAt() time.Time {
	if p.EndedAt.IsZero() {
		return p.NoticedAt
	}
	return p.EndedAt
}

// node is the instance for events about its node.
func (k Known) node() history.Node {
	return history.Node{InstanceID: k.InstanceID, Name: k.Node.Name, UID: k.Node.UID}
}

// HistoryInstance is an instance for events, at an hourly price.
func (k Known) HistoryInstance(price spotpool.Price) history.Instance {
	return history.Instance{
		ID: k.InstanceID, Offering: k.Market.HistoryOffering(k.SubnetID), ChargeType: string(k.ChargeType), Price: price.Text(),
	}
}

// past is what is stored of the instance once it is gone.
func (k Known) past() Past {
	return Past{InstanceID: k.InstanceID, SeqTag: k.SeqTag, EndedAt: k.EndedAt, NoticedAt: k.NoticedAt, Node: k.Node}
}
