package spotpool

import "github.com/gpupool/terraform-provider-gpupool/internal/wording"

// Kind is the kind of a decision about a spot pool.
type Kind string

// The kinds of decisions about spot pools. Add a new one to Kinds, too.
const (
	KindLaunch     Kind = "launch"      // launch instances
	KindTerminate  Kind = "terminate"   // terminate instances
	KindDrain      Kind = "drain"       // cordon a node and evict its pods
	KindUncordon   Kind = "uncordon"    // uncordon a node
	KindDeleteNode Kind = "delete_node" // delete the Node of a terminated instance
	KindEndToken   Kind = "end_token"   // delete the Secret of a bootstrap token
)

// KindData is the data of a kind for reports and metrics.
type KindData struct {
	Kind Kind
	Verb wording.Verb // which Summary begins with
}

// Kinds returns all kinds of decisions about spot pools.
func Kinds() []KindData {
	return []KindData{
		{KindLaunch, wording.Verb{Base: "launch", Past: "launched"}},
		{KindTerminate, wording.Verb{Base: "terminate", Past: "terminated"}},
		{KindDrain, wording.Verb{Base: "drain", Past: "drained"}},
		{KindUncordon, wording.Verb{Base: "uncordon", Past: "uncordoned"}},
		{KindDeleteNode, wording.Verb{Base: "delete", Past: "deleted"}},
		{KindEndToken, wording.Verb{Base: "delete", Past: "deleted"}},
	}
}

// Data returns the data of the kind.
func (k Kind) Data() KindData {
	for _, data := range Kinds() {
		if data.Kind == k {
			return data
		}
	}
	return KindData{Kind: k, Verb: wording.Verb{Base: string(k), Past: string(k)}}
}
