package cvmsim

// launchParams is what RunInstances, InquiryPriceRunInstances and launch
// templates have in common (cvm models.go, RunInstancesRequest).
type launchParams struct {
	InstanceChargeType      *string             `json:"InstanceChargeType,omitempty"`
	InstanceChargePrepaid   *prepaidParams      `json:"InstanceChargePrepaid,omitempty"`
	Placement               *placementParams    `json:"Placement,omitempty"`
	InstanceType            *string             `json:"InstanceType,omitempty"`
	ImageID                 *string             `json:"ImageId,omitempty"`
	SystemDisk              *systemDiskParams   `json:"SystemDisk,omitempty"`
	DataDisks               []dataDiskParams    `json:"DataDisks,omitempty"`
	VirtualPrivateCloud     *vpcParams          `json:"VirtualPrivateCloud,omitempty"`
	InternetAccessible      *internetParams     `json:"InternetAccessible,omitempty"`
	InstanceCount           *int64              `json:"InstanceCount,omitempty"`
	InstanceName            *string             `json:"InstanceName,omitempty"`
	LoginSettings           *loginParams        `json:"LoginSettings,omitempty"`
	SecurityGroupIDs        []string            `json:"SecurityGroupIds,omitempty"`
	EnhancedService         *enhancedParams     `json:"EnhancedService,omitempty"`
	ClientToken             *string             `json:"ClientToken,omitempty"`
	HostName                *string             `json:"HostName,omitempty"`
	ActionTimer             *actionTimerParams  `json:"ActionTimer,omitempty"`
	DisasterRecoverGroupIDs []string            `json:"DisasterRecoverGroupIds,omitempty"`
	TagSpecification        []tagSpecification  `json:"TagSpecification,omitempty"`
	InstanceMarketOptions   *marketParams       `json:"InstanceMarketOptions,omitempty"`
	UserData                *string             `json:"UserData,omitempty"`
	Metadata                *metadataParams     `json:"Metadata,omitempty"`
	CPUTopology             *cpuTopologyParams  `json:"CpuTopology,omitempty"`
	CamRoleName             *string             `json:"CamRoleName,omitempty"`
	HpcClusterID            *string             `json:"HpcClusterId,omitempty"`
	LaunchTemplate          *launchTemplateLink `json:"LaunchTemplate,omitempty"`
	DisableAPITermination   *bool               `json:"DisableApiTermination,omitempty"`
}

type prepaidParams struct {
	Period    *int64  `json:"Period,omitempty"`
	RenewFlag *string `json:"RenewFlag,omitempty"`
}

type placementParams struct {
	Zone      *string  `json:"Zone,omitempty"`
	ProjectID *int64   `json:"ProjectId,omitempty"`
	HostIDs   []string `json:"HostIds,omitempty"`
	HostID    *string  `json:"HostId,omitempty"`
}

type systemDiskParams struct {
	DiskType *string `json:"DiskType,omitempty"`
	DiskID   *string `json:"DiskId,omitempty"`
	DiskSize *int64  `json:"DiskSize,omitempty"`
	CdcID    *string `json:"CdcId,omitempty"`
	DiskName *string `json:"DiskName,omitempty"`
}

type dataDiskParams struct {
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

type vpcParams struct {
	VpcID              *string  `json:"VpcId,omitempty"`
	SubnetID           *string  `json:"SubnetId,omitempty"`
	AsVpcGateway       *bool    `json:"AsVpcGateway,omitempty"`
	PrivateIPAddresses []string `json:"PrivateIpAddresses,omitempty"`
	IPv6AddressCount   *uint64  `json:"Ipv6AddressCount,omitempty"`
}

type internetParams struct {
	InternetChargeType      *string `json:"InternetChargeType,omitempty"`
	InternetMaxBandwidthOut *int64  `json:"InternetMaxBandwidthOut,omitempty"`
	PublicIPAssigned        *bool   `json:"PublicIpAssigned,omitempty"`
	BandwidthPackageID      *string `json:"BandwidthPackageId,omitempty"`
	InternetServiceProvider *string `json:"InternetServiceProvider,omitempty"`
	IPv4AddressType         *string `json:"IPv4AddressType,omitempty"`
	IPv6AddressType         *string `json:"IPv6AddressType,omitempty"`
	AntiDDoSPackageID       *string `json:"AntiDDoSPackageId,omitempty"`
}

type loginParams struct {
	Password       *string  `json:"Password,omitempty"`
	KeyIDs         []string `json:"KeyIds,omitempty"`
	KeepImageLogin *string  `json:"KeepImageLogin,omitempty"`
}

type enabledParams struct {
	Enabled *bool `json:"Enabled,omitempty"`
}

type enhancedParams struct {
	SecurityService   *enabledParams `json:"SecurityService,omitempty"`
	MonitorService    *enabledParams `json:"MonitorService,omitempty"`
	AutomationService *enabledParams `json:"AutomationService,omitempty"`
}

type actionTimerParams struct {
	TimerAction *string `json:"TimerAction,omitempty"`
	ActionTime  *string `json:"ActionTime,omitempty"`
}

type tagSpecification struct {
	ResourceType *string     `json:"ResourceType,omitempty"`
	Tags         []tagParams `json:"Tags,omitempty"`
}

type tagParams struct {
	Key   *string `json:"Key,omitempty"`
	Value *string `json:"Value,omitempty"`
}

type marketParams struct {
	SpotOptions *spotParams `json:"SpotOptions,omitempty"`
	MarketType  *string     `json:"MarketType,omitempty"`
}

type spotParams struct {
	MaxPrice         *string `json:"MaxPrice,omitempty"`
	SpotInstanceType *string `json:"SpotInstanceType,omitempty"`
}

type metadataParams struct {
	Items []tagParams `json:"Items,omitempty"`
}

type cpuTopologyParams struct {
	CoreCount     *int64 `json:"CoreCount,omitempty"`
	ThreadPerCore *int64 `json:"ThreadPerCore,omitempty"`
}

type launchTemplateLink struct {
	LaunchTemplateID      *string `json:"LaunchTemplateId,omitempty"`
	LaunchTemplateVersion *uint64 `json:"LaunchTemplateVersion,omitempty"`
}

// or returns what a pointer points to, or a default.
func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
