package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	stored "github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// findings are the documents and problems of a location.
type findings struct {
	counts   []count
	problems []problem
	newer    error // of a document of a newer gpupool, if any
}

// count is the number of documents of a kind.
type count struct {
	// The kind of the documents.
	Kind string `json:"kind"`
	// The number of documents.
	Documents int `json:"documents"`
	// The number of documents that cannot be read.
	Unreadable int `json:"unreadable"`
}

// problem is an unreadable or missing document, or remains of an object with a lost record.
type problem struct {
	// The document's name.
	Document string `json:"document"`
	// Why it cannot be read, or is missing.
	Error string `json:"error"`
}

// readAll reads every document.
func readAll(ctx context.Context, remains stored.Remains) (findings, error) {
	found := findings{problems: []problem{}}
	for _, kind := range stored.Kinds() {
		documents, err := remains.List(ctx, kind)
		if err != nil {
			return found, err
		}
		unreadable := 0
		if kind == stored.Ledger {
			unreadable = found.readLedgers(remains, documents)
		} else {
			for _, d := range documents {
				if err := read(remains, d); err != nil {
					found.note(d.Key.String(), err)
					unreadable++
				}
			}
		}
		found.counts = append(found.counts, count{Kind: string(kind), Documents: len(documents), Unreadable: unreadable})
	}
	missing, err := record.MissingJournals(ctx, remains)
	if err != nil {
		return found, err
	}
	for _, m := range missing {
		found.problems = append(found.problems, problem{Document: m.Document.String(), Error: m.String()})
	}
	orphans, err := record.Orphans(ctx, remains, record.Recorded{})
	for _, of := range orphans {
		found.problems = append(found.problems, problem{Document: of.Documents[0].String(), Error: of.Reason().String()})
	}
	return found, err
}

// total is the number of documents, and of readable ones.
func (f *findings) total() (documents, readable int) {
	for _, c := range f.counts {
		documents += c.Documents
		readable += c.Documents - c.Unreadable
	}
	return documents, readable
}

// note adds the problem of a document.
func (f *findings) note(name string, err error) {
	f.problems = append(f.problems, problem{Document: name, Error: err.Error()})
	var newer *declaration.NewerError
	var newerLedger *document.NewerError
	var newerHistory *history.NewerError
	if f.newer == nil && (errors.As(err, &newer) || errors.As(err, &newerLedger) || errors.As(err, &newerHistory)) {
		f.newer = err
	}
}

// read checks a document.
func read(remains stored.Remains, d stored.Document) error {
	what := fmt.Sprintf("%s in the store %s", d.Key, remains)
	if d.Key.Kind == stored.History {
		return readHistory(d)
	}
	return declaration.Check(string(d.Key.Kind), what, d.Data)
}

// readHistory checks a document of the history.
func readHistory(d stored.Document) error {
	codec, err := history.NewCodec()
	if err != nil {
		return err
	}
	if _, head, ok := history.ParseName(d.Key.Name); ok && head == 0 {
		_, err = codec.Segment(d.Key.Name, d.Data, history.Query{})
		return err
	}
	_, err = codec.Head(d.Key.Name, d.Data, history.Query{})
	return err
}

// readLedgers checks the ledger of each cluster as a whole, since its documents refer to each
// other, and returns the number of unreadable ones.
func (f *findings) readLedgers(remains stored.Remains, documents []stored.Document) int {
	clusters := connect.Ledgers(documents)
	unreadable := 0
	for _, uid := range slices.Sorted(maps.Keys(clusters)) {
		contents, name := clusters[uid], string(stored.Ledger)+"/"+uid
		l, problems, err := ledger.Load(uid, contents, ledger.Time(time.Now().UnixMilli()))
		if err != nil {
			f.note(name, fmt.Errorf("%s in the store %s: %w", name, remains, err))
			unreadable += len(contents)
			continue
		}
		for _, p := range l.Unaccepted(problems) {
			f.note(name+"/"+p.Document, p)
			if _, there := contents[p.Document]; there {
				unreadable++
			}
		}
	}
	return unreadable
}
