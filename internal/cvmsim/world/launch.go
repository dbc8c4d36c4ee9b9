package world

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
)

// Fate is the outcome of the instances of a launch.
type Fate int

// A launch settles in RUNNING, or in LAUNCH_FAILED, or stays PENDING.
const (
	LaunchWorks Fate = iota
	LaunchFails
	LaunchHangs
)

// Launch is a launch that passed all checks.
type Launch struct {
	SKU       SKU
	Count     int64
	Instance  Instance // what all have in common
	Tags      []Tag
	Addresses []string // fixed ones, or none
	Months    int64    // of a prepaid term
	Renew     string   // at the end of it
}

// Launch creates the instances of a launch and returns their IDs.
func (w *World) Launch(s Launch, now time.Time, requestID string, fate Fate) []string {
	w.Market.Change(s.SKU, func(o *Offer) { o.Stock -= s.Count })
	ids := make([]string, s.Count)
	for i := range ids {
		in := w.NewInstance(s, i, now)
		in.Operation, in.OperationState, in.OperationRequestID = "RunInstances", "OPERATING", requestID
		in.State = statePending
		switch fate {
		case LaunchFails:
			in.SettleTo, in.SettleError = stateLaunchFailed, "The instance could not be created: the resources of the host are insufficient."
		default:
			in.SettleTo = StateRunning
		}
		if fate != LaunchHangs {
			in.SettleAt = now.Add(w.Settings.LaunchDelay)
		}
		if w.Settings.ListingDelay > 0 {
			in.ListedAt = now.Add(w.Settings.ListingDelay)
		}
		w.Add(in)
		ids[i] = in.ID
	}
	return ids
}

// NewInstance returns the record of the i-th instance of a launch.
func (w *World) NewInstance(s Launch, i int, now time.Time) *Instance {
	w.rememberTags(s.Tags)
	w.general.Ordinal++
	w.changes.touch(generalKind, "")
	ordinal := w.general.Ordinal
	in := s.Instance
	in.Ordinal, in.ID, in.UUID = ordinal, identifier("ins", ordinal), wire.NewUUID()
	in.CreatedAt = now.UTC().Truncate(time.Second)
	if in.ChargeType == ChargePrepaid {
		in.prepay(now, s.Months, cmp.Or(s.Renew, RenewByHand))
	}
	in.Name, in.HostName = numbered(in.Name, i, s.Count), numbered(in.HostName, i, s.Count)
	if in.Name == "" {
		in.Name = "未命名"
	}
	in.RestrictState, in.IsolatedSource = "NORMAL", "NOTISOLATED"
	in.PrivateIP = privateAddress(ordinal)
	if len(s.Addresses) > 0 {
		in.PrivateIP = s.Addresses[i]
	}
	if in.PublicIP != "" {
		in.PublicIP = publicAddress(ordinal)
	}
	if len(in.SecurityGroupIDs) == 0 {
		in.SecurityGroupIDs = []string{"sg-default0"}
	}
	in.SystemDisk.ID = identifier("disk", ordinal*32)
	in.DataDisks = append([]Disk(nil), in.DataDisks...)
	for d := range in.DataDisks {
		in.DataDisks[d].ID = identifier("disk", ordinal*32+uint64(d)+1)
	}
	at := now.Add(w.Settings.TagDelay)
	for _, t := range s.Tags {
		if w.Settings.TagDelay > 0 {
			in.Late = append(in.Late, lateTag{At: at, Tag: t})
		} else {
			in.Tags = WithTag(in.Tags, t, false)
		}
	}
	return &in
}

// NamePattern matches the counter in the names of a launch.
var NamePattern = regexp.MustCompile(`\{R:(\d{1,9})\}`)

// numbered returns the name of the i-th of several instances. {R:x} counts from x; otherwise a
// number from 1 is appended (cvm models.go, InstanceName).
func numbered(name string, i int, count int64) string {
	if name == "" {
		return ""
	}
	if NamePattern.MatchString(name) {
		return NamePattern.ReplaceAllStringFunc(name, func(pattern string) string {
			from, _ := strconv.Atoi(strings.Trim(pattern, "{R:}")) // nine digits at most
			return strconv.Itoa(from + i)
		})
	}
	if count > 1 {
		return fmt.Sprintf("%s%d", name, i+1)
	}
	return name
}

// LaunchMemory is the launch of a ClientToken. It outlives the instances.
type LaunchMemory struct {
	Token, Digest string
	InstanceIDs   []string
}

const idDigits = "abcdefghijklmnopqrstuvwxyz0123456789"

// identifier spreads an ordinal over eight letters and digits. The multiplier has no factor in
// common with 36, so no two ordinals collide.
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

// privateAddress returns an address in 10.0.0.0/8 for each ordinal. publicAddress returns one in
// 198.18.0.0/15, which is reserved for benchmarks (RFC 2544).
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
