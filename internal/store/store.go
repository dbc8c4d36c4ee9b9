// Package store keeps the documents that outlive a run: declarations, journals,
// statuses, tombstones and locks. To it a document is bytes with a name and a
// revision; package declaration knows what they say.
//
// The backends are store/directory and store/kubernetes. Both keep every kind of
// document, and every write of either is a compare-and-swap.
//
// Most of its more than 40 names are the kinds of documents and the errors that both
// backends return (store.go); the others are a store's location (location.go), its layout
// (layout.go), and the mark of one that was moved (mark.go).
package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Kind is a kind of document.
type Kind string

// The kinds of documents. Those that hold user data are secret: a backend keeps
// them readable to their owner alone.
const (
	SpotPools     Kind = "spot_pools"     // records; secret
	Journals      Kind = "journals"       // spot pools' journals; secret
	Budgets       Kind = "budgets"        // records; secret, like all declarations
	StockPools    Kind = "stock_pools"    // records; secret, as environments are
	StockJournals Kind = "stock_journals" // stock pools' journals, by the pool's uid
	Ledger        Kind = "ledger"         // intervals of pods, by cluster: header and shards
	History       Kind = "history"        // events, by day: heads and segments
	Pauses        Kind = "pauses"         // workloads that budgets paused, by the budget's uid
	Grants        Kind = "grants"         // hours that persons added to budgets, by the budget's uid
	Holds         Kind = "holds"          // of pools, by persons, by the pool's uid
	Statuses      Kind = "statuses"       // what the last run saw
	Tombstones    Kind = "tombstones"     // of destroyed objects, by uid
	States        Kind = "states"         // Terraform states seen, by lineage
)

// Kinds returns all kinds of documents.
func Kinds() []Kind {
	return []Kind{SpotPools, Journals, Budgets, StockPools, StockJournals, Ledger, History, Pauses, Grants, Holds, Statuses, Tombstones, States}
}

// Secret says whether documents of this kind may hold secrets.
func (k Kind) Secret() bool {
	return k == SpotPools || k == Journals || k == Budgets || k == StockPools
}

// Key names a document: a kind, and a name such as "ap-singapore/train".
type Key struct {
	Kind Kind
	Name string
}

// String writes the key as "kind/name".
func (k Key) String() string { return string(k.Kind) + "/" + k.Name }

// Revision changes with every write of a document. The empty revision is that
// of a document that does not exist.
type Revision string

// Document is the data of one key, with its revision.
type Document struct {
	Key      Key
	Revision Revision
	Data     []byte
}

// The errors of a store.
var (
	// ErrNotFound says that the key holds no document.
	ErrNotFound = errors.New("not found in the store")
	// ErrConflict says that the document changed since its revision was read.
	ErrConflict = errors.New("changed in the store by someone else")
	// ErrTooLarge says that a document is larger than the store can keep in one.
	ErrTooLarge = errors.New("too large for the store")
	// ErrNoStore says that there is no store where one was expected.
	ErrNoStore = errors.New("no store there")
	// ErrUndescribed says that there are documents of a store, but not the
	// description that makes the place one. Such a place must not be taken for an
	// empty one.
	ErrUndescribed = errors.New("no store there")
	// ErrNewerStore says that a newer gpupool laid the store out.
	ErrNewerStore = errors.New("laid out by a newer gpupool")
	// ErrDamagedStore says that what describes the store cannot be read.
	ErrDamagedStore = errors.New("damaged store")
)

// LockedError says that someone else holds a lock.
type LockedError struct {
	Name   string
	Holder string // its holder, as far as the lock tells
}

// Error names the lock and its holder.
func (e *LockedError) Error() string {
	return fmt.Sprintf("the lock %q is held by %s", e.Name, e.Holder)
}

// Holder is who has a lock, as its record tells.
type Holder struct {
	Command string    `json:"command"`
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Since   time.Time `json:"since"`
	// Heard is when it last told that it lives, and Until when the lock is free unless
	// it does again; absent where the lock lasts for as long as its holder.
	Heard time.Time `json:"heard,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Gone says that it ended without giving the lock back, which is free: it was
	// killed.
	Gone bool `json:"-"`
}

// String names the holder's command and process, and since when it has the lock.
func (h Holder) String() string {
	return fmt.Sprintf("%s (process %d on %s, since %s)", h.Command, h.PID, h.Host, h.Since.UTC().Format(time.RFC3339))
}

// Lock is a lock that was taken.
type Lock interface {
	// Release gives the lock up. Releasing it twice is harmless.
	Release() error
	// Lost is closed when the lock was lost before it was released.
	Lost() <-chan struct{}
}

// Store is a backend.
type Store interface {
	Documents
	Locks
	// Location is where the store is.
	Location() Location
	// String names the store as the flag --store does: "directory:.gpupool".
	String() string
}

// Documents reads and writes documents.
type Documents interface {
	// Read returns the document of a key, or ErrNotFound.
	Read(ctx context.Context, key Key) (Document, error)
	// List returns every document of a kind, sorted by name. A document that is
	// damaged or can't be read does not fail the list: it is listed without Data, and
	// Read of it says why.
	List(ctx context.Context, kind Kind) ([]Document, error)
	// Write replaces the document of a key if its revision is still the given
	// one, and returns the new revision; else ErrConflict. With an empty
	// revision the document must not exist yet.
	Write(ctx context.Context, key Key, data []byte, revision Revision) (Revision, error)
	// Delete removes the document if its revision is still the given one; else
	// ErrConflict. Removing what is gone is ErrNotFound.
	Delete(ctx context.Context, key Key, revision Revision) error
}

// Locks are locks by name.
type Locks interface {
	// Lock takes the named lock, for which it waits at most as long as wait (zero:
	// not at all), and until the context ends. If another process has it, the error
	// is *LockedError.
	Lock(ctx context.Context, name string, wait time.Duration) (Lock, error)
	// Holder tells who has the named lock, or was killed with it, by what was written
	// down on taking it. It never tries the lock. It is nil if no process has it, and
	// if that is unknown.
	Holder(ctx context.Context, name string) (*Holder, error)
}

// Probed is a store that can say, without a document, why none could be written.
type Probed interface {
	// Unwritable is nil where nothing is known to keep documents from being written.
	Unwritable() error
}

// Remains is what is left of a store that lost its description. It can't write or
// remove any of the documents.
type Remains interface {
	// List returns every document of a kind, as Store does.
	List(ctx context.Context, kind Kind) ([]Document, error)
	// Strange names whatever no store of this gpupool has: it is someone else's, or
	// of a newer gpupool.
	Strange(ctx context.Context) ([]string, error)
	// Describe makes the place a store again. Where someone else described it
	// meanwhile, it is checked as on opening, and left alone.
	Describe(ctx context.Context) error
	// String names the place as the flag --store does.
	String() string
}
