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
	VPCID                   types.String `tfsdk:"vpc_id"`
	SecurityGroupIDs        types.List   `tfsdk:"security_group_ids"`
	ImageID                 types.String `tfsdk:"image_id"`
	KeyIDs                  types.List   `tfsdk:"key_ids"`
	SystemDiskType          types.String `tfsdk:"system_disk_type"`
	SystemDiskSize          types.Int64  `tfsdk:"system_disk_size"`
	DataDisks               types.List   `tfsdk:"data_disks"`
	InternetMaxBandwidthOut types.Int64  `tfsdk:"internet_max_bandwidth_out"`
	InternetChargeType      types.String `tfsdk:"internet_charge_type"`
	UserData                types.String `tfsdk:"user_data_raw"`
	UserDataWO              types.String `tfsdk:"user_data_raw_wo"`
	UserDataVersion         types.Int64  `tfsdk:"user_data_raw_wo_version"`
	CamRoleName             types.String `tfsdk:"cam_role_name"`
	ProjectID               types.Int64  `tfsdk:"project_id"`
	Tags                    types.Map    `tfsdk:"tags"`
}

func (c *configuration) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Text(x, &c.VPCID, &d.VPCID)
	attribute.Texts(x, &c.SecurityGroupIDs, &d.SecurityGroupIDs)
	attribute.Text(x, &c.ImageID, &d.ImageID)
	attribute.Texts(x, &c.KeyIDs, &d.KeyIDs)
	attribute.Text(x, &c.SystemDiskType, &d.SystemDiskType)
	attribute.OptionalNumber(x, &c.SystemDiskSize, &d.SystemDiskSize)
	attribute.Objects(x, path.Root("data_disks"), &c.DataDisks, dataDiskTypes, &d.DataDisks, slices.Equal, dataDiskFields)
	attribute.OptionalNumber(x, &c.InternetMaxBandwidthOut, &d.InternetMaxBandwidthOut)
	attribute.Text(x, &c.InternetChargeType, &d.InternetChargeType)
	attribute.Text(x, &c.UserData, &d.UserData)
	attribute.OptionalNumber(x, &c.UserDataVersion, &d.UserDataWOVersion)
	attribute.Text(x, &c.CamRoleName, &d.CamRoleName)
	attribute.Number(x, &c.ProjectID, &d.ProjectID)
	attribute.TextMap(x, &c.Tags, &d.Tags, attribute.Exactly)
}

func configurationAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"vpc_id":             kit.Text(kit.Required, "VPC of the instances, such as `vpc-a1b2c3d4`."),
		"security_group_ids": kit.Texts(kit.Optional, "Security groups of the instances, such as `sg-a1b2c3d4`. If omitted, the VPC's default group."),
		"image_id":           kit.Text(kit.Required, "Image of the instances, such as `img-a1b2c3d4`. It must support the region and GPU instances."),
		"key_ids": kit.Texts(kit.Optional, "SSH key pairs of the instances, such as `skey-a1b2c3d4`. If omitted, the image's own login stays. Tencent "+
			"Cloud allows that only for custom, shared and imported images, so a public image needs keys. There is no argument for a password."),
		"system_disk_type": kit.Text(kit.Optional, "Type of the system disk, such as `CLOUD_BSSD`, `CLOUD_PREMIUM` or `CLOUD_SSD`. If omitted, Tencent "+
			"Cloud's default."),
		"system_disk_size": kit.Whole(kit.Optional, "Size of the system disk in GiB, 20 to 2048. If omitted, Tencent Cloud's default of 50."),
		"data_disks":       kit.Objects(kit.Optional, "Data disks of each instance, at most 20. They are deleted with their instance.", dataDiskAttributes()),
		"internet_max_bandwidth_out": kit.Whole(kit.Optional, "Outgoing bandwidth of each instance in Mbit/s, 1 to 10000, with a public IP address. If "+
			"omitted or 0, instances have none."),
		"internet_charge_type": kit.Text(kit.Optional, "Charge type of internet traffic: `BANDWIDTH_POSTPAID_BY_HOUR`, `TRAFFIC_POSTPAID_BY_HOUR` or "+
			"`BANDWIDTH_PACKAGE`. If omitted, Tencent Cloud's default."),
		"user_data_raw": schema.StringAttribute{
			Optional: true, Sensitive: true,
			MarkdownDescription: "Script or cloud-init document that each instance runs at its first start, as plain text of at most 16 KB in Base64. " +
				"The state and the store keep it; the state does not keep `user_data_raw_wo`.",
		},
		"user_data_raw_wo": schema.StringAttribute{
			Optional: true, Sensitive: true, WriteOnly: true,
			MarkdownDescription: "`user_data_raw` that is in neither the state nor a plan, and may come from an ephemeral value. It needs " +
				"`user_data_raw_wo_version`. The store keeps it, since `gpupool reconcile` launches instances later. It conflicts with `user_data_raw`.",
		},
		"user_data_raw_wo_version": kit.Whole(kit.Optional, "Version of `user_data_raw_wo`, 1 or more. Change it to apply a changed `user_data_raw_wo`: "+
			"instances of another version are drifted. With the same version, the store keeps its value."),
		"cam_role_name": kit.Text(kit.Optional, "CAM role that the instances may assume."),
		"project_id":    kit.DefaultNumber(defaults.ProjectID, "Project of the instances; 0 is the default one."),
		"tags": kit.TextMap(kit.Optional, "Tags of the instances and their disks, in addition to those of gpupool. Keys must not begin with `gpupool/`, "+
			"`qcs:` or `project`."),
	}
}

var dataDiskTypes = attribute.Types(dataDiskAttributes())

func dataDiskFields(x *attribute.Transfer, _ path.Path, f *attribute.Fields, d *core.DataDisk) {
	attribute.Text(x, f.Text("data_disk_type"), &d.Type)
	attribute.Number(x, f.Number("data_disk_size"), &d.Size)
}

func dataDiskAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"data_disk_type": kit.Text(kit.Required, "Disk type, such as `CLOUD_BSSD`, `CLOUD_PREMIUM` or `CLOUD_SSD`."),
		"data_disk_size": kit.Whole(kit.Required, "Size in GiB: 10 to 32000, in steps of 10."),
	}
}
