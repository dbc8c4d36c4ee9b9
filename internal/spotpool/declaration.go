package spotpool

import (
	"cmp"
	"slices"
	"time"
)

// ChargeType is how an instance is paid for, as Tencent Cloud names it.
type ChargeType string

// The charge types a pool may use.
const (
	Spot     ChargeType = "SPOTPAID"
	OnDemand ChargeType = "POSTPAID_BY_HOUR"
)

// AllocationStrategy is the order in which a launch tries the offerings.
type AllocationStrategy string

// The allocation strategies.
const (
	// Priority takes the first offering, in the declared order, that can launch.
	Priority AllocationStrategy = "priority"
	// LowestPrice takes the cheapest offering; the declared order breaks ties.
	LowestPrice AllocationStrategy = "lowest_price"
	// Balanced takes the zone with the fewest of the pool's instances.
	Balanced AllocationStrategy = "balanced"
)

// RefreshStrategy says how instances are replaced whose configuration has drifted.
type RefreshStrategy string

// The refresh strategies.
const (
	// RefreshNone keeps them until they are terminated for another reason.
	RefreshNone RefreshStrategy = "none"
	// RefreshOpportunistic terminates them while the pool is above its minimum.
	RefreshOpportunistic RefreshStrategy = "opportunistic"
	// RefreshRolling replaces them, a batch at a time.
	RefreshRolling RefreshStrategy = "rolling"
)

// OnDestroy says whether the instances of a destroyed pool are terminated.
type OnDestroy string

// The values of OnDestroy.
const (
	DestroyDelete OnDestroy = "delete"
	DestroyRetain OnDestroy = "retain"
)

// OnBudgetExceeded says whether a pool is drained while its budget is exceeded.
type OnBudgetExceeded string

// The values of OnBudgetExceeded.
const (
	ExceededKeep  OnBudgetExceeded = "keep"
	ExceededDrain OnBudgetExceeded = "drain" // they are terminated after a drain
)

// Defaults of a declaration, the same for every surface.
const (
	DefaultLaunchTimeout     = Duration(15 * 60e9)
	DefaultCooldown          = Duration(20 * 60e9)
	DefaultMaxLaunchesPerRun = 50
	DefaultFallbackAfter     = Duration(30 * 60e9)
	DefaultBudgetGracePeriod = Duration(30 * 60e9)
	DefaultSurplusAfter      = Duration(60 * 60e9)
)

// Offering is a zone and an instance type in which a pool may launch.
type Offering struct {
	// The availability zone.
	AvailabilityZone string `json:"availability_zone"`
	// The instance type.
	InstanceType string `json:"instance_type"`
	// The subnet.
	SubnetID string `json:"subnet_id"`
	// The highest hourly spot price. Absent for the market price.
	SpotMaxPrice Price `json:"spot_max_price,omitempty"`
}

// DataDisk is a data disk of each instance.
type DataDisk struct {
	Type string `json:"data_disk_type"`
	Size int64  `json:"data_disk_size"` // GiB
}

// Configuration is what every instance of the pool is launched with, in any offering.
type Configuration struct {
	VPCID            string   `json:"vpc_id"`
	SecurityGroupIDs []string `json:"security_group_ids,omitempty"`
	ImageID          string   `json:"image_id"`
	KeyIDs           []string `json:"key_ids,omitempty"` // none: the image's own login
	// SystemDiskType and SystemDiskSize are Tencent Cloud's default if they are zero.
	SystemDiskType string     `json:"system_disk_type,omitempty"`
	SystemDiskSize int64      `json:"system_disk_size,omitempty"` // GiB
	DataDisks      []DataDisk `json:"data_disks,omitempty"`
	// InternetMaxBandwidthOut is in Mbit/s; with zero, instances have no public address.
	InternetMaxBandwidthOut int64  `json:"internet_max_bandwidth_out,omitempty"`
	InternetChargeType      string `json:"internet_charge_type,omitempty"`
	UserData                string `json:"user_data_raw,omitempty"` // plain text, secret
	// UserDataWO is user data that Terraform does not store. A new version of it announces
	// a change; zero if UserData is used.
	UserDataWO        string            `json:"user_data_raw_wo,omitempty"`
	UserDataWOVersion int64             `json:"user_data_raw_wo_version,omitempty"`
	CamRoleName       string            `json:"cam_role_name,omitempty"`
	ProjectID         int64             `json:"project_id,omitempty"`
	Tags              map[string]string `json:"tags,omitempty"`
}

// OnDemandFallback lets a pool that has been short of spot instances for a
// while launch on-demand ones instead.
type OnDemandFallback struct {
	// How long the pool must be short before.
	After Duration `json:"after"`
	// The most on-demand instances, in addition to `on_demand_base`.
	Maximum int `json:"maximum"`
}

// Refresh says how drifted instances are replaced.
type Refresh struct {
	Strategy       RefreshStrategy `json:"strategy"`
	MaxSurge       int             `json:"max_surge"`       // instances above minimum meanwhile
	MaxUnavailable int             `json:"max_unavailable"` // instances below minimum meanwhile
}

// Declaration is the desired state of one spot pool.
type Declaration struct {
	Name       string `json:"name"`
	Region     string `json:"region"`
	UID        string `json:"uid"`        // random, given at create
	AccountID  string `json:"account_id"` // the owner of every instance
	Generation int64  `json:"generation"` // counts the changes of this declaration
	// Currency is that of the pool's prices and of its price limits; empty in records from
	// before it was stored.
	Currency Currency `json:"currency,omitempty"`

	Minimum            int                `json:"minimum"`
	Maximum            int                `json:"maximum"`
	Offerings          []Offering         `json:"offerings"`
	AllocationStrategy AllocationStrategy `json:"allocation_strategy"`
	InstanceChargeType ChargeType         `json:"instance_charge_type"`
	Configuration

	MaxHourlyCost     Price             `json:"max_hourly_cost,omitempty"` // zero: no cap
	LaunchTimeout     Duration          `json:"launch_timeout"`
	Cooldown          Duration          `json:"cooldown"`
	MaxLaunchesPerRun int               `json:"max_launches_per_run"`
	OnDemandBase      int               `json:"on_demand_base,omitempty"`
	OnDemandFallback  *OnDemandFallback `json:"on_demand_fallback,omitempty"`
	// SurplusAfter is how long instances stay that replacements left above minimum; zero:
	// for ever.
	SurplusAfter       *Duration        `json:"surplus_after"`
	Refresh            Refresh          `json:"refresh"`
	Budget             string           `json:"budget,omitempty"`
	OnBudgetExceeded   OnBudgetExceeded `json:"on_budget_exceeded"`
	BudgetGracePeriod  Duration         `json:"budget_grace_period"`
	DeletionProtection bool             `json:"deletion_protection,omitempty"`
	OnDestroy          OnDestroy        `json:"on_destroy"`
	Nodes              *Nodes           `json:"nodes,omitempty"`
	ClusterUID         string           `json:"cluster_uid,omitempty"` // of the nodes' cluster
	BootstrapToken     *BootstrapToken  `json:"bootstrap_token,omitempty"`
}

// Key names a pool within one account, "ap-singapore/train".
func (d Declaration) Key() string { return d.Region + "/" + d.Name }

// Identity returns the UID, which tells the pool from others of its name, and the
// generation, which tells the declaration from earlier ones.
func (d Declaration) Identity() (uid string, generation int64) { return d.UID, d.Generation }

// WithIdentity returns the declaration with this UID and generation.
func (d Declaration) WithIdentity(uid string, generation int64) Declaration {
	d.UID, d.Generation = uid, generation
	return d
}

// WithDefaults fills in what the declaration leaves out.
func (d Declaration) WithDefaults() Declaration {
	d.AllocationStrategy = cmp.Or(d.AllocationStrategy, Priority)
	d.InstanceChargeType = cmp.Or(d.InstanceChargeType, Spot)
	d.LaunchTimeout = cmp.Or(d.LaunchTimeout, DefaultLaunchTimeout)
	d.Cooldown = cmp.Or(d.Cooldown, DefaultCooldown)
	d.MaxLaunchesPerRun = cmp.Or(d.MaxLaunchesPerRun, DefaultMaxLaunchesPerRun)
	d.OnDestroy = cmp.Or(d.OnDestroy, DestroyDelete)
	d.OnBudgetExceeded = cmp.Or(d.OnBudgetExceeded, ExceededKeep)
	d.BudgetGracePeriod = cmp.Or(d.BudgetGracePeriod, DefaultBudgetGracePeriod)
	if d.SurplusAfter == nil {
		d.SurplusAfter = new(DefaultSurplusAfter)
	}
	if d.Refresh.Strategy == "" {
		d.Refresh = Refresh{Strategy: RefreshNone, MaxSurge: 1}
	}
	if f := d.OnDemandFallback; f != nil && f.After == 0 {
		d.OnDemandFallback = &OnDemandFallback{After: DefaultFallbackAfter, Maximum: f.Maximum}
	}
	if d.Nodes != nil {
		d.Nodes = d.Nodes.withDefaults()
	}
	if d.BootstrapToken != nil {
		d.BootstrapToken = d.BootstrapToken.withDefaults()
	}
	return d
}

// SurplusLimit returns how long a surplus that replacements left stays; zero if the pool
// keeps it.
func (d Declaration) SurplusLimit() time.Duration {
	if d.SurplusAfter == nil {
		return time.Duration(DefaultSurplusAfter)
	}
	return time.Duration(*d.SurplusAfter)
}

// KeepsSurplus reports whether the pool keeps such a surplus.
func (d Declaration) KeepsSurplus() bool { return d.SurplusLimit() == 0 }

// ChargeTypes returns every charge type in which the pool may launch.
func (d Declaration) ChargeTypes() []ChargeType {
	types := []ChargeType{d.InstanceChargeType}
	if d.OnDemandBase > 0 || d.OnDemandFallback != nil {
		types = append(types, OnDemand)
	}
	slices.Sort(types)
	return slices.Compact(types)
}
