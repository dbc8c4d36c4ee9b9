package kubernetes

import (
	"encoding/json"
	"os"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// holderAnnotation names the process that holds a Lease, for others on the same machine. The
// holder's identity in the Lease's spec is for people.
const holderAnnotation = "gpupool/holder"

// process identifies a process. No other has the same identity, even if it gets the same number
// later.
type process struct {
	// Nonce is that of the identity in the Lease, so that an earlier holder's annotation proves
	// nothing.
	Nonce string `json:"nonce"`
	Host  string `json:"host"`
	Boot  string `json:"boot_id"`
	// A process number belongs to a PID namespace, and its start time to the clock of a time
	// namespace.
	PIDNamespace  string `json:"pid_namespace"`
	TimeNamespace string `json:"time_namespace,omitempty"`
	PID           int    `json:"pid"`
	Started       uint64 `json:"started"` // in clock ticks since boot
}

// sharesHost reports whether two processes have the same boot and namespaces, so that one can check
// whether the other lives.
func (p process) sharesHost(other process) bool {
	return p.Boot != "" && p.PIDNamespace != "" && p.Host == other.Host && p.Boot == other.Boot &&
		p.PIDNamespace == other.PIDNamespace && p.TimeNamespace == other.TimeNamespace
}

// death is the proof that a holder is dead. The empty one proves nothing: the holder then keeps the
// lock until the Lease expires.
type death struct{ evidence string }

func (d death) proven() bool { return d.evidence != "" }

// deathOf returns a proof that the holder of a Lease is dead, if there is one.
func deathOf(lease *coordinationv1.Lease) death {
	var holder process
	err := json.Unmarshal([]byte(lease.Annotations[holderAnnotation]), &holder)
	if err != nil || holder.Nonce == "" || nonceOf(lease) != holder.Nonce {
		return death{}
	}
	if here, known := thisProcess(); !known || !holder.sharesHost(here) {
		return death{}
	}
	return holder.death()
}

// introduce writes the holding process on a Lease, if it is known.
func (i identity) introduce(lease *coordinationv1.Lease) {
	delete(lease.Annotations, holderAnnotation)
	own, known := thisProcess()
	if !known {
		return
	}
	own.Nonce = i.nonce
	if text, err := json.Marshal(own); err == nil {
		metav1.SetMetaDataAnnotation(&lease.ObjectMeta, holderAnnotation, string(text))
	}
}

func hostname() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}
