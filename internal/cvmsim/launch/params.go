// Package launch defines the parameters of a launch in the API.
package launch

// Params are the parameters of RunInstances that shape an instance (cvm models.go,
// RunInstancesRequest).
type Params struct {
	InstanceChargeType      *string            `json:"InstanceChargeType,omitempty"`
	InstanceChargePrepaid   *Prepaid           `json:"InstanceChargePrepaid,omitempty"`
	Placement               *Placement         `json:"Placement,omitempty"`
	InstanceType            *string            `json:"InstanceType,omitempty"`
	ImageID                 *string            `json:"ImageId,omitempty"`
	SystemDisk              *SystemDisk        `json:"SystemDisk,omitempty"`
	DataDisks               []DataDisk         `json:"DataDisks,omitempty"`
	VirtualPrivateCloud     *VPC               `json:"VirtualPrivateCloud,omitempty"`
	InternetAccessible      *Internet          `json:"InternetAccessible,omitempty"`
	InstanceCount           *int64             `json:"InstanceCount,omitempty"`
	InstanceName            *string            `json:"InstanceName,omitempty"`
	LoginSettings           *Login             `json:"LoginSettings,omitempty"`
	SecurityGroupIDs        []string           `json:"SecurityGroupIds,omitempty"`
	EnhancedService         *Enhanced          `json:"EnhancedService,omitempty"`
	ClientToken             *string            `json:"ClientToken,omitempty"`
	HostName                *string            `json:"HostName,omitempty"`
	ActionTimer             *Timer             `json:"ActionTimer,omitempty"`
	DisasterRecoverGroupIDs []string           `json:"DisasterRecoverGroupIds,omitempty"`
	TagSpecification        []TagSpecification `json:"TagSpecification,omitempty"`
	InstanceMarketOptions   *Market            `json:"InstanceMarketOptions,omitempty"`
	UserData                *string            `json:"UserData,omitempty"`
	Metadata                *Metadata          `json:"Metadata,omitempty"`
	CPUTopology             *CPUTopology       `json:"CpuTopology,omitempty"`
	CamRoleName             *string            `json:"CamRoleName,omitempty"`
	HpcClusterID            *string            `json:"HpcClusterId,omitempty"`
	DisableAPITermination   *bool              `json:"DisableApiTermination,omitempty"`
}

// Prepaid is the term of a prepaid launch.
type Prepaid struct {
	Period    *int64  `json:"Period,omitempty"`
	RenewFlag *string `json:"RenewFlag,omitempty"`
}

// Placement is the location of a launch.
type Placement struct {
	Zone      *string  `json:"Zone,omitempty"`
	ProjectID *int64   `json:"ProjectId,omitempty"`
	HostIDs   []string `json:"HostIds,omitempty"`
	HostID    *string  `json:"HostId,omitempty"`
}

// SystemDisk is the boot disk of an instance.
type SystemDisk struct {
	DiskType *string `json:"DiskType,omitempty"`
	DiskID   *string `json:"DiskId,omitempty"`
	DiskSize *int64  `json:"DiskSize,omitempty"`
	CdcID    *string `json:"CdcId,omitempty"`
	DiskName *string `json:"DiskName,omitempty"`
}

// DataDisk is an additional disk.
type DataDisk struct {
	DiskSize              *int64  `json:"DiskSize,omitempty"`
	DiskType              *string `json:"DiskType,omitempty"`
	DiskID                *string `json:"DiskId,omitempty"`
	DeleteWithInstance    *bool   `json:"DeleteWithInstance,omitempty"`
	SnapshotID            *string `json:"SnapshotId,omitempty"`
	Encrypt               *bool   `json:"Encrypt,omitempty"`
	KmsKeyID              *string `json:"KmsKeyId,omitempty"`
	ThroughputPerformance *int64  `json:"ThroughputPerformance,omitempty"`
	CdcID                 *string `json:"CdcId,omitempty"`
	BurstPerformance      *bool   `json:"BurstPerformance,omitempty"`
	DiskName              *string `json:"DiskName,omitempty"`
}

// VPC is the network of a launch.
type VPC struct {
	VpcID              *string  `json:"VpcId,omitempty"`
	SubnetID           *string  `json:"SubnetId,omitempty"`
	AsVpcGateway       *bool    `json:"AsVpcGateway,omitempty"`
	PrivateIPAddresses []string `json:"PrivateIpAddresses,omitempty"`
	IPv6AddressCount   *uint64  `json:"Ipv6AddressCount,omitempty"`
}

// Internet is the public network access.
type Internet struct {
	InternetChargeType      *string `json:"InternetChargeType,omitempty"`
	InternetMaxBandwidthOut *int64  `json:"InternetMaxBandwidthOut,omitempty"`
	PublicIPAssigned        *bool   `json:"PublicIpAssigned,omitempty"`
	BandwidthPackageID      *string `json:"BandwidthPackageId,omitempty"`
	InternetServiceProvider *string `json:"InternetServiceProvider,omitempty"`
	IPv4AddressType         *string `json:"IPv4AddressType,omitempty"`
	IPv6AddressType         *string `json:"IPv6AddressType,omitempty"`
	AntiDDoSPackageID       *string `json:"AntiDDoSPackageId,omitempty"`
}

// Login is the login of an instance.
type Login struct {
	Password       *string  `json:"Password,omitempty"`
	KeyIDs         []string `json:"KeyIds,omitempty"`
	KeepImageLogin *string  `json:"KeepImageLogin,omitempty"`
}

// Enabled turns a service on or off.
type Enabled struct {
	Enabled *bool `json:"Enabled,omitempty"`
}

// Enhanced are the services that run on an instance.
type Enhanced struct {
	SecurityService   *Enabled `json:"SecurityService,omitempty"`
	MonitorService    *Enabled `json:"MonitorService,omitempty"`
	AutomationService *Enabled `json:"AutomationService,omitempty"`
}

// Timer is a timed termination.
type Timer struct {
	TimerAction *string `json:"TimerAction,omitempty"`
	ActionTime  *string `json:"ActionTime,omitempty"`
}

// TagSpecification is the tags of a kind of resource.
type TagSpecification struct {
	ResourceType *string `json:"ResourceType,omitempty"`
	Tags         []Tag   `json:"Tags,omitempty"`
}

// Tag is a tag as CVM writes it.
type Tag struct {
	Key   *string `json:"Key,omitempty"`
	Value *string `json:"Value,omitempty"`
}

// Market is the purchase option of an instance.
type Market struct {
	SpotOptions *Spot   `json:"SpotOptions,omitempty"`
	MarketType  *string `json:"MarketType,omitempty"`
}

// Spot is the bid for a spot instance.
type Spot struct {
	MaxPrice         *string `json:"MaxPrice,omitempty"`
	SpotInstanceType *string `json:"SpotInstanceType,omitempty"`
}

// Metadata are values for the metadata service.
type Metadata struct {
	Items []Tag `json:"Items,omitempty"`
}

// CPUTopology is the topology of an instance's cores.
type CPUTopology struct {
	CoreCount     *int64 `json:"CoreCount,omitempty"`
	ThreadPerCore *int64 `json:"ThreadPerCore,omitempty"`
}
