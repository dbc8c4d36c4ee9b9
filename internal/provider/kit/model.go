package kit

import (
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
)

// Model is a resource's values. It embeds a Record.
type Model interface{ timeouts() Timeouts }

// Record has the attributes of every resource: by what the store knows it, which cluster
// it belongs to, and its timeouts.
type Record struct {
	Timeouts   Timeouts     `tfsdk:"timeouts"`
	UID        types.String `tfsdk:"uid"`
	Generation types.Int64  `tfsdk:"generation"`
	ClusterUID types.String `tfsdk:"cluster_uid"`
}

// NewRecord is the record of what is imported.
func NewRecord() Record { return Record{Timeouts: NoTimeouts()} }

func (r Record) timeouts() Timeouts { return r.Timeouts }

// Transfer carries the record into a declaration or out of it.
func (r *Record) Transfer(x *attribute.Transfer, uid *string, generation *int64, clusterUID *string) {
	attribute.Text(x, &r.UID, uid)
	attribute.Number(x, &r.Generation, generation)
	attribute.Text(x, &r.ClusterUID, clusterUID)
}

// Filled is the record after an apply: as planned, with its unknown values filled in.
func (r Record) Filled(uid string, generation int64, clusterUID string) Record {
	r.UID = values.Known(r.UID, types.StringValue(uid))
	r.Generation = values.Known(r.Generation, types.Int64Value(generation))
	r.ClusterUID = values.Known(r.ClusterUID, values.OfText(clusterUID))
	return r
}
