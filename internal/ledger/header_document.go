package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// headerBody is the body of the header's document.
type headerBody struct {
	Began           Time       `json:"began_ms"`
	LastRun         Time       `json:"last_run_ms"`
	LastListed      Time       `json:"last_listed_ms"`
	KeptSince       Time       `json:"kept_since_ms"`
	ResourceVersion string     `json:"resource_version"`
	Resources       string     `json:"resources,omitempty"`
	Gaps            []gapBody  `json:"gaps,omitempty"`
	Lost            []lossBody `json:"lost,omitempty"`
	Forgone         Forgone    `json:"forgone,omitzero"`
	// Documents are how many records each of the others had: so that a missing
	// one is missed.
	Documents map[string]int `json:"documents"`
}

type gapBody struct {
	From   Time   `json:"from_ms"`
	To     Time   `json:"to_ms"`
	GPUs   string `json:"gpus,omitempty"`
	Reason string `json:"reason,omitempty"`
}

type lossBody struct {
	Document  string     `json:"document"`
	From      Time       `json:"from_ms"`
	To        Time       `json:"to_ms"`
	Intervals int        `json:"intervals,omitempty"`
	Reason    string     `json:"reason"`
	Accepted  Acceptance `json:"accepted,omitzero"`
}

func encodeHeader(h Header, documents map[string]int) ([]byte, error) {
	body := headerBody{
		Began: h.Began, LastRun: h.LastRun, LastListed: h.LastListed, KeptSince: h.KeptSince,
		ResourceVersion: h.ResourceVersion, Resources: h.Resources, Forgone: h.Forgone, Documents: documents,
	}
	for _, g := range mergeGaps(h.Gaps) {
		encoded := gapBody{From: g.From, To: g.To, Reason: g.Reason}
		if g.GPUs != nil {
			encoded.GPUs = g.GPUs.RatString()
		}
		body.Gaps = append(body.Gaps, encoded)
	}
	for _, loss := range mergeLosses(h.Lost) {
		body.Lost = append(body.Lost, lossBody(loss))
	}
	return json.Marshal(body)
}

// decodeHeader reads the header's body. The error is *NewerError or *DamagedError.
func decodeHeader(clusterUID string, data []byte) (Header, map[string]int, error) {
	damaged := func(reason string) (Header, map[string]int, error) {
		return Header{}, nil, &DamagedError{Document: headerName, Reason: reason}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var body headerBody
	if err := decoder.Decode(&body); err != nil {
		if _, field, unknown := strings.Cut(err.Error(), "json: unknown field "); unknown {
			return Header{}, nil, &NewerError{Document: headerName, Field: strings.Trim(field, `"`)}
		}
		return damaged("its content is not of the right form")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return damaged("something follows where it should end")
	}
	h := Header{
		ClusterUID: clusterUID, Began: body.Began, LastRun: body.LastRun, LastListed: body.LastListed,
		KeptSince: body.KeptSince, ResourceVersion: body.ResourceVersion, Resources: body.Resources, Forgone: body.Forgone,
	}
	times := []Time{h.Began, h.LastRun, h.LastListed, h.KeptSince, h.Forgone.Before, h.Forgone.At}
	for _, g := range body.Gaps {
		gap := Gap{From: g.From, To: g.To, Reason: g.Reason}
		if g.GPUs != "" {
			if gap.GPUs = rational(g.GPUs); gap.GPUs == nil {
				return damaged("a number of GPUs is none")
			}
		}
		h.Gaps = append(h.Gaps, gap)
		times = append(times, g.From, g.To)
	}
	for _, loss := range body.Lost {
		h.Lost = append(h.Lost, Loss(loss))
		times = append(times, loss.From, loss.To, loss.Accepted.At)
	}
	for _, at := range times {
		if at < 0 || at > lastMoment {
			return damaged("one of its times is not between 1970 and 9999")
		}
	}
	h.Gaps, h.Lost = mergeGaps(h.Gaps), mergeLosses(h.Lost)
	return h, body.Documents, nil
}
