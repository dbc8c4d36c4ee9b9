package ledger

import (
	"encoding/json"
	"errors"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

// headerBody is the header's document. It is JSON, like those of nodes and bindings. Each ends with
// its seal.
type headerBody struct {
	Began           Time      `json:"began_ms"`
	LastRun         Time      `json:"last_run_ms"`
	LastListed      Time      `json:"last_listed_ms"`
	KeptSince       Time      `json:"kept_since_ms"`
	ResourceVersion string    `json:"resource_version"`
	Resources       string    `json:"resources,omitempty"`
	Gaps            []gapBody `json:"gaps,omitempty"`
	Lost            []Loss    `json:"lost,omitempty"`
	Forgone         Forgone   `json:"forgone,omitzero"`
	// Problems are those of pods that exist.
	Problems []PodProblem `json:"problems,omitempty"`
	// Documents is how many records each of the other documents has, so that a missing one is
	// noticed.
	Documents map[string]int `json:"documents"`
	Seal      string         `json:"seal"`
}

type gapBody struct {
	From   Time   `json:"from_ms"`
	To     Time   `json:"to_ms"`
	GPUs   string `json:"gpus,omitempty"`
	Reason string `json:"reason,omitempty"`
}

type tableBody[T any] struct {
	Remembered []T    `json:"remembered"`
	Seal       string `json:"seal"`
}

// encodeHeader encodes the header, which lists the other documents with their numbers of records.
func encodeHeader(h Header, listed map[string]int) (document.Document, error) {
	d, err := document.EncodeJSON(document.HeaderName, h.ClusterUID, 0, func(seal string) any { return h.body(listed, seal) })
	if err == nil && len(d.Data) > document.MaxSize {
		err = errors.New("the ledger's header exceeds the size limit of a store; nothing was changed")
	}
	return d, err
}

func (h Header) body(documents map[string]int, seal string) headerBody {
	body := headerBody{
		Began: h.Began, LastRun: h.LastRun, LastListed: h.LastListed, KeptSince: h.KeptSince,
		ResourceVersion: h.ResourceVersion, Resources: h.Resources, Lost: mergeLosses(h.Lost), Forgone: h.Forgone,
		Problems: h.Problems, Documents: documents, Seal: seal,
	}
	for _, g := range mergeGaps(h.Gaps) {
		encoded := gapBody{From: g.From, To: g.To, Reason: g.Reason}
		if g.GPUs != nil {
			encoded.GPUs = g.GPUs.RatString()
		}
		body.Gaps = append(body.Gaps, encoded)
	}
	return body
}

// decodeHeader reads the header and returns the documents that it lists. The error is
// *document.NewerError or *document.DamagedError.
func decodeHeader(clusterUID string, d document.Document) (Header, map[string]int, error) {
	var body headerBody
	if err := d.DecodeJSON(&body); err != nil {
		return Header{}, nil, err
	}
	damaged := func(reason string) (Header, map[string]int, error) {
		return Header{}, nil, &document.DamagedError{Document: d.Name, Reason: reason}
	}
	h := Header{
		ClusterUID: clusterUID, Began: body.Began, LastRun: body.LastRun, LastListed: body.LastListed,
		KeptSince: body.KeptSince, ResourceVersion: body.ResourceVersion, Resources: body.Resources, Forgone: body.Forgone,
		Problems: body.Problems,
	}
	times := []Time{h.Began, h.LastRun, h.LastListed, h.KeptSince, h.Forgone.Before, h.Forgone.At}
	for _, g := range body.Gaps {
		gap := Gap{From: g.From, To: g.To, Reason: g.Reason}
		if g.GPUs != "" {
			if gap.GPUs = rational(g.GPUs); gap.GPUs == nil {
				return damaged("invalid number of GPUs")
			}
		}
		h.Gaps = append(h.Gaps, gap)
		times = append(times, g.From, g.To)
	}
	for _, loss := range body.Lost {
		times = append(times, loss.From, loss.To, loss.Accepted.At)
	}
	for _, at := range times {
		if at < 0 || at > lastMoment {
			return damaged("a time is not between 1970 and 9999 (UTC)")
		}
	}
	h.Gaps, h.Lost = mergeGaps(h.Gaps), mergeLosses(body.Lost)
	return h, body.Documents, nil
}

func (l Labels) toMap() map[string]string {
	labels := make(map[string]string, len(l))
	for _, label := range l {
		labels[label.Key] = label.Value
	}
	return labels
}

// MarshalJSON writes labels as an object.
func (l Labels) MarshalJSON() ([]byte, error) { return json.Marshal(l.toMap()) }

// UnmarshalJSON reads labels from an object.
func (l *Labels) UnmarshalJSON(data []byte) error {
	var labels map[string]string
	err := json.Unmarshal(data, &labels)
	*l = LabelsOf(labels)
	return err
}
