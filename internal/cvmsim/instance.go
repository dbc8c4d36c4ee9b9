package cvmsim

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// States of an instance (cvm models.go, Instance.InstanceState).
const (
	statePending      = "PENDING"
	stateLaunchFailed = "LAUNCH_FAILED"
	stateRunning      = "RUNNING"
	stateShutdown     = "SHUTDOWN"
	stateTerminating  = "TERMINATING"
)

// states are all that the API knows; the upper-case names are settable.
var states = []string{
	statePending, stateLaunchFailed, stateRunning, "STOPPED", "STARTING", "STOPPING", "REBOOTING",
	stateShutdown, stateTerminating, "ENTER_RESCUE_MODE", "RESCUE_MODE", "EXIT_RESCUE_MODE",
	"ENTER_SERVICE_LIVE_MIGRATE", "SERVICE_LIVE_MIGRATE", "EXIT_SERVICE_LIVE_MIGRATE",
	"BANNING", "CORRUPTED", "FREEZING", "ISOLATING", "TERMINATED",
}

// Tag is a tag of an instance.
type Tag struct {
	Key   string `json:"Key"`
	Value string `json:"Value"`
}

// lateTag is a change of a tag that isn't visible yet.
type lateTag struct {
	At      time.Time
	Tag     Tag
	Deleted bool
}

type disk struct {
	Type               string
	ID                 string
	Size               int64
	DeleteWithInstance bool
}

// instance is the record of one machine. Slices are replaced, never changed
// in place, since answers under way may still refer to them.
type instance struct {
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
	SystemDisk                                              disk
	DataDisks                                               []disk
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

	// What is to come; a zero time means nothing.
	ListedAt    time.Time // it shows in listings from then on
	SettleAt    time.Time // PENDING ends,
	SettleTo    string    // in this state
	SettleError string
	ReclaimAt   time.Time // the cloud takes it back,
	ReclaimView string    // looking like this
	Linger      Duration  // for so long
	TimerAt     time.Time // ActionTimer
	GoneAt      time.Time
	Restock     bool // its place goes back on sale once it is gone
	Uncounted   bool // it no longer counts against the quota
}

func (in *instance) key() string { return "instance/" + in.ID }

// listed reports whether the instance shows in listings.
func (in *instance) listed() bool { return in.ListedAt.IsZero() }

func (in *instance) sku() sku { return sku{in.Zone, in.Type, in.ChargeType} }

// tag returns the value of a visible tag.
func (in *instance) tag(key string) (string, bool) {
	for _, t := range in.Tags {
		if t.Key == key {
			return t.Value, true
		}
	}
	return "", false
}

// finalTags are the tags once all late changes have shown.
func (in *instance) finalTags() []Tag {
	tags := in.Tags
	for _, late := range in.Late {
		tags = withTag(tags, late.Tag, late.Deleted)
	}
	return tags
}

// withTag returns a new sorted list with a tag set or deleted.
func withTag(tags []Tag, tag Tag, deleted bool) []Tag {
	out := make([]Tag, 0, len(tags)+1)
	for _, t := range tags {
		if t.Key != tag.Key {
			out = append(out, t)
		}
	}
	if !deleted {
		out = append(out, tag)
		slices.SortFunc(out, func(a, b Tag) int { return strings.Compare(a.Key, b.Key) })
	}
	return out
}

const idDigits = "abcdefghijklmnopqrstuvwxyz0123456789"

// identifier spreads an ordinal over eight letters and digits. The multiplier
// has no factor in common with 36, so no two ordinals meet.
func identifier(prefix string, ordinal uint64) string {
	const space = 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36
	n := (ordinal%space*1_602_176_633 + 299_792_458) % space
	var b [8]byte
	for i := range b {
		b[i] = idDigits[n%36]
		n /= 36
	}
	return prefix + "-" + string(b[:])
}

// privateAddress gives each ordinal an address in 10.0.0.0/8, publicAddress
// one in 198.18.0.0/15, which is set aside for benchmarks (RFC 2544).
func privateAddress(ordinal uint64) string {
	n := ordinal % (1 << 24)
	return "10." + dotted(n>>16, n>>8, n)
}

func publicAddress(ordinal uint64) string {
	n := ordinal % (1 << 17)
	return "198." + dotted(18+n>>16, n>>8, n)
}

func dotted(parts ...uint64) string {
	text := make([]string, len(parts))
	for i, p := range parts {
		text[i] = strconv.FormatUint(p&0xff, 10)
	}
	return strings.Join(text, ".")
}
