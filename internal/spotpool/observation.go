package spotpool

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// State is an instance's InstanceState, as Tencent CVM documents it.
type State string

// The states that decisions distinguish. An instance in any other is unusable, and ignored.
const (
	StatePending            State = "PENDING"
	StateLaunchFailed       State = "LAUNCH_FAILED"
	StateRunning            State = "RUNNING"
	StateStarting           State = "STARTING"
	StateRebooting          State = "REBOOTING"
	StateStopped            State = "STOPPED"
	StateStopping           State = "STOPPING"
	StateShutdown           State = "SHUTDOWN" // isolated in the recycle bin, to be destroyed
	StateTerminating        State = "TERMINATING"
	StateRescueMode         State = "RESCUE_MODE"
	StateServiceLiveMigrate State = "SERVICE_LIVE_MIGRATE"
)

// Ending reports whether an instance in this state disappears by itself, so that it does
// not count toward the total.
func (s State) Ending() bool { return s == StateTerminating || s == StateLaunchFailed }

// Up reports whether an instance in this state runs, or will soon.
func (s State) Up() bool { return s == StateRunning || s == StateStarting || s == StateRebooting }

// Instance is one CVM instance, as observed.
type Instance struct {
	// The instance ID.
	ID string `json:"instance_id"`
	// The region.
	Region string `json:"region,omitempty"`
	// The account.
	AccountID string `json:"account_id,omitempty"`
	// The tag `gpupool/uid`.
	PoolUID string `json:"uid,omitempty"`
	// The tag `gpupool/pool`.
	PoolName string `json:"pool,omitempty"`
	// The tag `gpupool/seq`.
	SeqTag int64 `json:"seq,omitempty"`
	// The tag `gpupool/config`.
	ConfigurationTag string `json:"config,omitempty"`
	// The availability zone.
	AvailabilityZone string `json:"availability_zone"`
	// The instance type.
	InstanceType string `json:"instance_type"`
	// The subnet.
	SubnetID string `json:"subnet_id,omitempty"`
	// The VPC.
	VPCID string `json:"vpc_id,omitempty"`
	// The charge type.
	ChargeType ChargeType `json:"charge_type"`
	// Tencent Cloud's InstanceState.
	State State `json:"state"`
	// Whether the instance is expired or isolated.
	Restricted bool `json:"restricted,omitempty"`
	// Whether it has the tag `gpupool/protected`.
	Protected bool `json:"protected,omitempty"`
	// Whether it has termination protection of Tencent Cloud.
	APIProtected bool `json:"api_protected,omitempty"`
	// When it was created.
	LaunchedAt time.Time `json:"launched_at,omitzero"`
	// The private address.
	PrivateIP string `json:"private_ip,omitempty"`
	// The public address.
	PublicIP string `json:"public_ip,omitempty"`
	// The error of its last operation that failed.
	OperationError string `json:"operation_error,omitempty"`
}

// Protection says why an instance must not be terminated; empty if it may be. An instance
// that was converted to another charge type, such as PREPAID, was paid for in order to keep
// it.
func (i Instance) Protection() string {
	switch {
	case i.Protected:
		return "the tag gpupool/protected"
	case i.APIProtected:
		return "Tencent Cloud's termination protection"
	case i.ChargeType != Spot && i.ChargeType != OnDemand:
		return fmt.Sprintf("its charge type %s", i.ChargeType)
	}
	return ""
}

// Account returns the account that was observed.
func (o Observation) Account() Account { return Account{ID: o.AccountID, Currency: o.Currency} }

// Observation is what was read of one pool, and of the markets of its offerings,
// at one time.
type Observation struct {
	At        time.Time  `json:"at"` // by Tencent Cloud's clock
	Region    string     `json:"region"`
	AccountID string     `json:"account_id"`
	Currency  Currency   `json:"currency,omitempty"` // of the prices
	Instances []Instance `json:"instances,omitempty"`
	// Offers are those of the pool's own markets. It is nil if they could not be read. If it
	// is not nil, a market without an offer is not sold.
	Offers []Offer `json:"offers,omitzero"`
	// SpotVCPUs is how many vCPUs the account may still launch as spot instances, by zone;
	// nil if that could not be read.
	SpotVCPUs map[string]int `json:"spot_vcpus,omitempty"`
	// QuotaAway says that the quota is unknown for the moment.
	QuotaAway bool `json:"-"`
	// Cluster is what was observed of the pool's nodes.
	Cluster node.Observation `json:"cluster,omitzero"`
	// Absent are IDs that were requested one by one, and that Tencent Cloud does not know.
	Absent []string `json:"absent,omitempty"`
}
