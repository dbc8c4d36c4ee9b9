package kubernetes

import (
	"crypto/rand"
	"os"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// identity identifies the holder of a Lease. No two locks have the same, not even two of one
// process.
type identity struct {
	command, host string
	pid           int
	nonce         string
}

func newIdentity(command string) identity {
	return identity{command: command, host: hostname(), pid: os.Getpid(), nonce: rand.Text()}
}

// String returns the holder's identity in the Lease: "gpupool reconcile/host/123/NONCE".
func (i identity) String() string {
	return strings.Join([]string{i.command, i.host, strconv.Itoa(i.pid), i.nonce}, "/")
}

func holderOf(lease *coordinationv1.Lease) string {
	if lease == nil {
		return "another process"
	}
	if h := holderIn(lease); h != nil {
		return h.String()
	}
	return holderIdentity(lease)
}

// holderIn parses the holder of a Lease; nil if it is not in the form of newIdentity.
func holderIn(lease *coordinationv1.Lease) *store.Holder {
	parts := strings.Split(holderIdentity(lease), "/")
	n := len(parts)
	if n < 4 || lease.Spec.AcquireTime == nil {
		return nil
	}
	pid, err := strconv.Atoi(parts[n-2])
	if err != nil {
		return nil
	}
	return &store.Holder{Command: strings.Join(parts[:n-3], "/"), PID: pid, Host: parts[n-3], Since: lease.Spec.AcquireTime.UTC()}
}

func holderIdentity(lease *coordinationv1.Lease) string {
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// nonceOf returns the last part of a holder's identity.
func nonceOf(lease *coordinationv1.Lease) string {
	text := holderIdentity(lease)
	return text[strings.LastIndexByte(text, '/')+1:]
}

// expiry returns when a Lease expires unless it is renewed, by the API server's clock.
func expiry(lease *coordinationv1.Lease) time.Time {
	renewed := lease.CreationTimestamp.Time
	if lease.Spec.RenewTime != nil {
		renewed = lease.Spec.RenewTime.Time
	}
	return renewed.Add(durationOf(lease))
}

func durationOf(lease *coordinationv1.Lease) time.Duration {
	if d := lease.Spec.LeaseDurationSeconds; d != nil && *d > 0 {
		return time.Duration(*d) * time.Second
	}
	return defaultLeaseDuration
}

// hold writes a new holder into a Lease, at a time of the API server's clock.
func hold(lease *coordinationv1.Lease, who identity, duration time.Duration, now time.Time) {
	holder, seconds := who.String(), int32(duration/time.Second)
	moment := metav1.NewMicroTime(now)
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = &holder, &seconds
	lease.Spec.AcquireTime, lease.Spec.RenewTime = &moment, &moment
	who.introduce(lease)
}
