package ledger

import "github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"

// saved is what the documents say from which a ledger was loaded, as far as that may
// differ from what the ledger says by now.
type saved struct {
	// dirty are the closed bins whose documents may not say what the ledger does.
	dirty map[document.Bin]bool
	// left are records as documents still say them, by the closed bin that they left:
	// these documents keep them until the new bin is written.
	left map[document.Bin][]Record
	// stored are the documents that the ledger was loaded from, by name.
	stored map[string]storedDocument
	days   map[document.Bin]bool // of which there are documents by the day, by their first hours
	// foldAt is how many recent records are kept in any case.
	foldAt int
}

// storedDocument is a document that the ledger was loaded from.
type storedDocument struct {
	document.Part
	sum       string // its checksum
	intervals int
	damaged   bool
}

func newSaved() saved {
	return saved{
		dirty: map[document.Bin]bool{}, left: map[document.Bin][]Record{}, stored: map[string]storedDocument{}, days: map[document.Bin]bool{},
		foldAt: minRecent,
	}
}

// keep remembers a document that is there.
func (s *saved) keep(name string, d storedDocument) {
	s.stored[name] = d
	if d.Kind == document.Day {
		s.days[d.First] = true
	}
}

// leave keeps what a document says of a pod whose record belongs elsewhere.
func (s *saved) leave(kept bool, from, to document.Bin, said *Record) {
	if kept && from != to {
		s.left[from] = append(s.left[from], *said)
	}
}

// binOf is the bin of a record.
func binOf(r *Record) document.Bin { return document.BinAt(int64(r.End.At), r.UID) }
