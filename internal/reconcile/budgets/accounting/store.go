package accounting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// ledgerDocuments are a cluster's ledger, with the revisions of the documents
// that it was read from.
type ledgerDocuments struct {
	ledger    *ledger.Ledger
	revisions map[string]store.Revision // by the document's name in the ledger
	problems  []ledger.Problem
}

// openLedger reads the ledger of a cluster; a new one where there is none. The
// error says that nothing of it may be written.
func (a Accountant) openLedger(ctx context.Context, clusterUID string) (*ledgerDocuments, error) {
	var docs []store.Document
	var err error
	if a.Repository.Store != nil {
		docs, err = a.Repository.Store.List(ctx, store.Ledger)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the ledger: %w", err)
	}
	d := &ledgerDocuments{revisions: map[string]store.Revision{}}
	contents := map[string][]byte{}
	for _, doc := range docs {
		if name, ours := strings.CutPrefix(doc.Key.Name, clusterUID+"/"); ours {
			d.revisions[name], contents[name] = doc.Revision, doc.Data
		}
	}
	d.ledger, d.problems, err = ledger.Load(clusterUID, contents, ledger.TimeOf(a.Clock()))
	if err != nil {
		return nil, fmt.Errorf("the ledger in the store %s cannot be used and was not changed: %w", a.Repository.Store, err)
	}
	d.problems = slices.DeleteFunc(d.problems, func(p ledger.Problem) bool { return p.Loss != nil && p.Loss.Accepted.IsSet() })
	return d, nil
}

// ledgerAttempts limits the writes of a ledger that another process writes meanwhile.
const ledgerAttempts = 5

// saveLedger writes the changes of the ledger. If another process wrote to it since it was read, both
// versions are merged and written again.
func (a Accountant) saveLedger(ctx context.Context, d *ledgerDocuments) error {
	for range ledgerAttempts {
		err := a.writeLedger(ctx, d)
		if !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		theirs, err := a.openLedger(ctx, d.ledger.Header.ClusterUID)
		if err != nil {
			return err
		}
		if err := theirs.ledger.Join(d.ledger); err != nil {
			return err
		}
		*d = *theirs
	}
	return errors.New("another process keeps writing to the ledger")
}

// writeLedger writes the documents that changed, in the order that lets a kill
// between any two of them lose nothing.
func (a Accountant) writeLedger(ctx context.Context, d *ledgerDocuments) error {
	changes, err := d.ledger.Changes()
	if err != nil {
		return err
	}
	key := func(document string) store.Key {
		return store.Key{Kind: store.Ledger, Name: d.ledger.Header.ClusterUID + "/" + document}
	}
	for _, document := range changes.Write {
		k := key(document.Name)
		revision, err := a.Repository.Store.Write(ctx, k, document.Data, d.revisions[document.Name])
		if err != nil {
			return fmt.Errorf("writing to the store: %w", err)
		}
		d.revisions[document.Name] = revision
	}
	for _, name := range changes.Delete {
		k := key(name)
		if err := record.Remove(ctx, a.Repository.Store, k.Kind, k.Name, d.revisions[name]); err != nil {
			return fmt.Errorf("removing from the store: %w", err)
		}
		delete(d.revisions, name)
	}
	return nil
}
