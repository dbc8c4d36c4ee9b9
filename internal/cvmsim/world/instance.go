package world

import "time"

// States of an instance (cvm models.go, Instance.InstanceState).
const (
	statePending      = "PENDING"
	stateLaunchFailed = "LAUNCH_FAILED"
	StateRunning      = "RUNNING"
	StateShutdown     = "SHUTDOWN"
	stateTerminating  = "TERMINATING"
)

// States are all that the API knows; the upper-case names are settable.
var States = []string{
	statePending, stateLaunchFailed, StateRunning, "STOPPED", "STARTING", "STOPPING", "REBOOTING",
	StateShutdown, stateTerminating, "ENTER_RESCUE_MODE", "RESCUE_MODE", "EXIT_RESCUE_MODE",
	"ENTER_SERVICE_LIVE_MIGRATE", "SERVICE_LIVE_MIGRATE", "EXIT_SERVICE_LIVE_MIGRATE",
	"BANNING", "CORRUPTED", "FREEZING", "ISOLATING", "TERMINATED",
}

// Disk is a disk of an instance, Size in GiB.
type Disk struct {
	Type               string
	ID                 string
	Size               int64
	DeleteWithInstance bool
}

// Instance is the record of one instance. Slices are replaced, never changed in place, since
// pending responses may still refer to them.
type Instance struct {
	Ordinal uint64 // the order of launches
	ID      string
	UUID    string

	Region, Zone, Type, ChargeType, ImageID, Name, HostName string
	ProjectID                                               int64
	VPCID, SubnetID, PrivateIP, PublicIP                    string
	InternetChargeType                                      string
	Bandwidth                                               int64
	SecurityGroupIDs, KeyIDs                                []string
	KeepImageLogin                                          bool
	SystemDisk                                              Disk
	DataDisks                                               []Disk
	DisasterRecoverGroupID, CamRoleName, UserData           string
	MaxPrice                                                string // the bid, "" = market price
	Protected                                               bool   // DisableApiTermination
	CreatedAt                                               time.Time
	ExpiresAt                                               time.Time // of a prepaid one
	RenewFlag                                               string    // of a prepaid one

	State, RestrictState, IsolatedSource string
	Operation, OperationState            string
	OperationRequestID, OperationError   string

	Tags []Tag // visible, sorted by key
	Late []lateTag

	// Future changes; a zero time means none.
	ListedAt    time.Time // it appears in listings from then on
	SettleAt    time.Time // PENDING ends,
	SettleTo    string    // in this state
	SettleError string
	ReclaimAt   time.Time // Tencent Cloud reclaims it,
	ReclaimView string    // with this visible state
	Linger      Duration  // for so long
	TimerAt     time.Time // ActionTimer
	GoneAt      time.Time
	Restock     bool // its place is for sale again once it is gone
	Uncounted   bool // it no longer counts against the quota
}

// listed reports whether the instance appears in listings.
func (in *Instance) listed() bool { return in.ListedAt.IsZero() }

func (in *Instance) sku() SKU { return SKU{in.Zone, in.Type, in.ChargeType} }
