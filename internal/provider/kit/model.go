package kit

import (
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
)

// Model is a resource's values. It embeds a Base, or a Record.
type Model interface{ timeouts() Timeouts }

// Base has the attributes of every resource: its identity in the store, and its timeouts.
type Base struct {
	Timeouts   Timeouts     `tfsdk:"timeouts"`
	UID        types.String `tfsdk:"uid"`
	Generation types.Int64  `tfsdk:"generation"`
}

// NewBase is the base of an imported resource.
func NewBase() Base { return Base{Timeouts: NoTimeouts()} }

func (b Base) timeouts() Timeouts { return b.Timeouts }

// Transfer carries the base into a declaration or out of it.
func (b *Base) Transfer(x *attribute.Transfer, uid *string, generation *int64) {
	attribute.Text(x, &b.UID, uid)
	attribute.Number(x, &b.Generation, generation)
}

// Filled is the base after an apply: the planned one with its unknown values filled in.
func (b Base) Filled(uid string, generation int64) Base {
	b.UID = values.Known(b.UID, types.StringValue(uid))
	b.Generation = values.Known(b.Generation, types.Int64Value(generation))
	return b
}

// Record is the base of a resource that belongs to a cluster.
type Record struct {
	Base
	ClusterUID types.String `tfsdk:"cluster_uid"`
}

// NewRecord is the record of an imported resource.
func NewRecord() Record { return Record{Base: NewBase()} }

// Transfer carries the record into a declaration or out of it.
func (r *Record) Transfer(x *attribute.Transfer, uid *string, generation *int64, clusterUID *string) {
	r.Base.Transfer(x, uid, generation)
	attribute.Text(x, &r.ClusterUID, clusterUID)
}

// Filled is the record after an apply: the planned one with its unknown values filled in.
func (r Record) Filled(uid string, generation int64, clusterUID string) Record {
	r.Base = r.Base.Filled(uid, generation)
	r.ClusterUID = values.Known(r.ClusterUID, values.OfText(clusterUID))
	return r
}
