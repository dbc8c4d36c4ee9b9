package spotpool

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// configuration is what each instance is launched with.
type configuration struct {
	VPCID            types.String `tfsdk:"vpc_id"`
	SecurityGroupIDs types.List   `tfsdk:"security_group_ids"`
	ImageID          types.String `tfsdk:"image_id"`
	KeyIDs           types.List   `tfsdk:"key_ids"`
	SystemDisk       types.Object `tfsdk:"system_disk"`
	DataDisks        types.List   `tfsdk:"data_disks"`
	Internet         types.Object `tfsdk:"internet"`
	UserData         types.String `tfsdk:"user_data"`
	UserDataWO       types.String `tfsdk:"user_data_wo"`
	UserDataVersion  types.Int64  `tfsdk:"user_data_wo_version"`
	CamRoleName      types.String `tfsdk:"cam_role_name"`
	ProjectID        types.Int64  `tfsdk:"project_id"`
	Tags             types.Map    `tfsdk:"tags"`
}

func (c *configuration) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Text(x, &c.VPCID, &d.VPCID)
	attribute.Texts(x, &c.SecurityGroupIDs, &d.SecurityGroupIDs)
	attribute.Text(x, &c.ImageID, &d.ImageID)
	attribute.Texts(x, &c.KeyIDs, &d.KeyIDs)
	attribute.Optional(x, &c.SystemDisk, diskTypes, &d.SystemDisk, core.Disk{}, diskFields)
	attribute.Objects(x, path.Root("data_disks"), &c.DataDisks, diskTypes, &d.DataDisks, slices.Equal, dataDiskFields)
	attribute.Optional(x, &c.Internet, internetTypes, &d.Internet, core.Internet{}, internetFields)
	attribute.Text(x, &c.UserData, &d.UserData)
	attribute.Version(x, &c.UserDataVersion, &d.UserDataWOVersion)
	attribute.Text(x, &c.CamRoleName, &d.CamRoleName)
	attribute.Number(x, &c.ProjectID, &d.ProjectID)
	attribute.TextMap(x, &c.Tags, &d.Tags, attribute.Exactly)
}

func configurationAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"vpc_id":             kit.Text(kit.Required, "VPC of the instances, such as `vpc-a1b2c3d4`."),
		"security_group_ids": kit.Texts(kit.Optional, "Security groups of the instances, such as `sg-a1b2c3d4`. Where it is left out, the VPC's default one."),
		"image_id":           kit.Text(kit.Required, "Image of the instances, such as `img-a1b2c3d4`. It must be one for the region and for GPU instances."),
		"key_ids": kit.Texts(kit.Optional, "SSH key pairs of the instances, such as `skey-a1b2c3d4`. Where it is left out, the image's own login stays as it "+
			"is, which the cloud allows for custom, shared and imported images alone: with a public image they are needed. There is no argument for a "+
			"password."),
		"system_disk": kit.Object(kit.Optional, "System disk of each instance. Where it is left out, the cloud's default, 50 "+
			"GiB.", diskAttributes("20 to 2048")),
		"data_disks": kit.Objects(kit.Optional, "Data disks of each instance, at most 20. They are deleted with their "+
			"instance.", diskAttributes("10 to 32000, in steps of 10")),
		"internet": kit.Object(kit.Optional, "Public address of each instance. Where it is left out, instances have none.", internetAttributes()),
		"user_data": schema.StringAttribute{
			Optional: true, Sensitive: true,
			MarkdownDescription: "Script or cloud-init document that each instance runs at its first start, as plain text of at most 16 KB once encoded in " +
				"Base64. It is kept in the state and in the store: `user_data_wo` is not kept in the state.",
		},
		"user_data_wo": schema.StringAttribute{
			Optional: true, Sensitive: true, WriteOnly: true,
			MarkdownDescription: "`user_data` that is in neither the state nor a plan, and may come from an ephemeral value. It needs Terraform 1.11 or " +
				"later, and `user_data_wo_version`. The store keeps it, since `gpupool reconcile` launches instances later. It conflicts with `user_data`.",
		},
		"user_data_wo_version": kit.Whole(kit.Optional, "Version of `user_data_wo`, 1 or more. Change it to have a changed `user_data_wo` applied: "+
			"instances that were launched with another version are outdated. With the same version, the store keeps the value that it has."),
		"cam_role_name": kit.Text(kit.Optional, "CAM role that the instances may take on."),
		"project_id":    kit.DefaultNumber(defaults.ProjectID, "Project of the instances; 0 is the default one."),
		"tags": kit.TextMap(kit.Optional, "Tags of the instances and their disks, beside those that gpupool sets. Keys must not begin with `gpupool/`, "+
			"`qcs:` or `project`."),
	}
}

var internetTypes = attribute.Types(internetAttributes())

func internetFields(x *attribute.Transfer, f *attribute.Fields, d *core.Internet) {
	attribute.Number(x, f.Number("max_bandwidth_out"), &d.MaxBandwidthOut)
	attribute.Text(x, f.Text("charge_type"), &d.ChargeType)
}

func internetAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"max_bandwidth_out": kit.Whole(kit.Required, "Outgoing bandwidth in Mbit/s, up to 10000. 0 means no public address."),
		"charge_type": kit.Text(kit.Optional, "How traffic is paid for: `BANDWIDTH_POSTPAID_BY_HOUR`, `TRAFFIC_POSTPAID_BY_HOUR` or `BANDWIDTH_PACKAGE`. "+
			"Where it is left out, the cloud's default."),
	}
}

var diskTypes = attribute.Types(diskAttributes(""))

func diskFields(x *attribute.Transfer, f *attribute.Fields, d *core.Disk) {
	attribute.Text(x, f.Text("type"), &d.Type)
	attribute.Number(x, f.Number("size"), &d.Size)
}

func dataDiskFields(x *attribute.Transfer, _ path.Path, f *attribute.Fields, d *core.Disk) {
	diskFields(x, f, d)
}

func diskAttributes(sizes string) map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"type": kit.Text(kit.Required, "Disk type, such as `CLOUD_BSSD`, `CLOUD_PREMIUM` or `CLOUD_SSD`."),
		"size": kit.Whole(kit.Required, "Size in GiB: "+sizes+"."),
	}
}
