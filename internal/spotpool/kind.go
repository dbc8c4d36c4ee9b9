package spotpool

import "github.com/gpupool/terraform-provider-gpupool/internal/wording"

// Kind is what a decision does.
type Kind string

// The kinds of decisions about spot pools. Each stands in Kinds as well.
const (
	KindLaunch    Kind = "launch"
	KindTerminate Kind = "terminate"
)

// KindData is what reports and metrics take from a kind.
type KindData struct {
	Kind Kind
	Verb wording.Verb // which Summary begins with
}

// Kinds are all kinds of decisions about spot pools.
func Kinds() []KindData {
	return []KindData{
		{KindLaunch, wording.Verb{Base: "launch", Past: "launched"}},
		{KindTerminate, wording.Verb{Base: "terminate", Past: "terminated"}},
	}
}

// Data is what others take from the kind.
func (k Kind) Data() KindData {
	for _, data := range Kinds() {
		if data.Kind == k {
			return data
		}
	}
	return KindData{Kind: k, Verb: wording.Verb{Base: string(k), Past: string(k)}}
}
