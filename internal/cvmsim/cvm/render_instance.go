package cvm

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// wireInstance is an instance in DescribeInstances (cvm models.go, Instance). Null fields are null
// there, too.
type wireInstance struct {
	Placement                wirePlacement  `json:"Placement"`
	InstanceID               string         `json:"InstanceId"`
	InstanceType             string         `json:"InstanceType"`
	CPU                      int64          `json:"CPU"`
	Memory                   int64          `json:"Memory"`
	RestrictState            string         `json:"RestrictState"`
	InstanceName             string         `json:"InstanceName"`
	InstanceChargeType       string         `json:"InstanceChargeType"`
	SystemDisk               wireDisk       `json:"SystemDisk"`
	DataDisks                []wireDataDisk `json:"DataDisks"`
	PrivateIPAddresses       []string       `json:"PrivateIpAddresses"`
	PublicIPAddresses        []string       `json:"PublicIpAddresses"`
	InternetAccessible       wireInternet   `json:"InternetAccessible"`
	VirtualPrivateCloud      wireVPC        `json:"VirtualPrivateCloud"`
	ImageID                  string         `json:"ImageId"`
	RenewFlag                *string        `json:"RenewFlag"`
	CreatedTime              string         `json:"CreatedTime"`
	ExpiredTime              *string        `json:"ExpiredTime"`
	OsName                   string         `json:"OsName"`
	SecurityGroupIDs         []string       `json:"SecurityGroupIds"`
	LoginSettings            wireLogin      `json:"LoginSettings"`
	InstanceState            string         `json:"InstanceState"`
	Tags                     []world.Tag    `json:"Tags"`
	StopChargingMode         string         `json:"StopChargingMode"`
	UUID                     string         `json:"Uuid"`
	LatestOperation          *string        `json:"LatestOperation"`
	LatestOperationState     *string        `json:"LatestOperationState"`
	LatestOperationRequestID *string        `json:"LatestOperationRequestId"`
	DisasterRecoverGroupID   string         `json:"DisasterRecoverGroupId"`
	IPv6Addresses            []string       `json:"IPv6Addresses"`
	CamRoleName              *string        `json:"CamRoleName"`
	HpcClusterID             string         `json:"HpcClusterId"`
	RdmaIPAddresses          []string       `json:"RdmaIpAddresses"`
	DedicatedClusterID       string         `json:"DedicatedClusterId"`
	IsolatedSource           string         `json:"IsolatedSource"`
	GPUInfo                  *wireGPU       `json:"GPUInfo,omitempty"`
	LicenseType              string         `json:"LicenseType"`
	DisableAPITermination    bool           `json:"DisableApiTermination"`
	DefaultLoginUser         string         `json:"DefaultLoginUser"`
	DefaultLoginPort         int64          `json:"DefaultLoginPort"`
	LatestOperationErrorMsg  *string        `json:"LatestOperationErrorMsg"`
}

type wirePlacement struct {
	Zone      string `json:"Zone"`
	ProjectID int64  `json:"ProjectId"`
}

type wireDisk struct {
	DiskType string `json:"DiskType"`
	DiskID   string `json:"DiskId"`
	DiskSize int64  `json:"DiskSize"`
}

type wireDataDisk struct {
	wireDisk
	DeleteWithInstance bool `json:"DeleteWithInstance"`
}

type wireInternet struct {
	InternetChargeType      *string `json:"InternetChargeType"`
	InternetMaxBandwidthOut int64   `json:"InternetMaxBandwidthOut"`
}

type wireVPC struct {
	VpcID        string `json:"VpcId"`
	SubnetID     string `json:"SubnetId"`
	AsVpcGateway bool   `json:"AsVpcGateway"`
}

type wireLogin struct {
	KeyIDs []string `json:"KeyIds"`
}

type wireGPU struct {
	GPUCount float64  `json:"GPUCount"`
	GPUID    []string `json:"GPUId"`
	GPUType  string   `json:"GPUType"`
}

func renderInstance(in *world.Instance) wireInstance {
	t := world.TypeByName[in.Type]
	out := wireInstance{
		Placement:    wirePlacement{Zone: in.Zone, ProjectID: in.ProjectID},
		InstanceID:   in.ID,
		InstanceType: in.Type, CPU: t.CPU, Memory: t.Memory,
		RestrictState: in.RestrictState, InstanceName: in.Name, InstanceChargeType: in.ChargeType,
		SystemDisk:          wireDisk{DiskType: in.SystemDisk.Type, DiskID: in.SystemDisk.ID, DiskSize: in.SystemDisk.Size},
		DataDisks:           []wireDataDisk{},
		PrivateIPAddresses:  []string{in.PrivateIP},
		InternetAccessible:  wireInternet{InternetChargeType: nonEmpty(in.InternetChargeType), InternetMaxBandwidthOut: in.Bandwidth},
		VirtualPrivateCloud: wireVPC{VpcID: in.VPCID, SubnetID: in.SubnetID},
		ImageID:             in.ImageID, CreatedTime: in.CreatedAt.UTC().Format(wire.TimeLayout),
		OsName: "TencentOS Server 3.1 (TK4)", SecurityGroupIDs: in.SecurityGroupIDs, LoginSettings: wireLogin{KeyIDs: in.KeyIDs},
		InstanceState: in.State, Tags: in.Tags, StopChargingMode: "NOT_APPLICABLE", UUID: in.UUID,
		LatestOperation: nonEmpty(in.Operation), LatestOperationState: nonEmpty(in.OperationState),
		LatestOperationRequestID: nonEmpty(in.OperationRequestID), LatestOperationErrorMsg: nonEmpty(in.OperationError),
		DisasterRecoverGroupID: in.DisasterRecoverGroupID, CamRoleName: nonEmpty(in.CamRoleName),
		IsolatedSource: in.IsolatedSource, LicenseType: "TencentCloud", DisableAPITermination: in.Protected,
		DefaultLoginUser: "root", DefaultLoginPort: 22,
	}
	if out.Tags == nil {
		out.Tags = []world.Tag{}
	}
	for _, d := range in.DataDisks {
		out.DataDisks = append(out.DataDisks, wireDataDisk{wireDisk{d.Type, d.ID, d.Size}, d.DeleteWithInstance})
	}
	if in.PublicIP != "" {
		out.PublicIPAddresses = []string{in.PublicIP}
	}
	if !in.ExpiresAt.IsZero() {
		out.ExpiredTime, out.RenewFlag = nonEmpty(in.ExpiresAt.UTC().Format(wire.TimeLayout)), nonEmpty(in.RenewFlag)
	}
	if t.GPU > 0 {
		out.GPUInfo = &wireGPU{GPUCount: float64(t.GPU), GPUID: []string{}, GPUType: t.GPUModel}
	}
	return out
}

func nonEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
