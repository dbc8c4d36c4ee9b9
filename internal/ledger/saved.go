package ledger

import "github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"

// saved is how far the documents that a ledger was loaded from may differ from the ledger.
type saved struct {
	// dirty are the closed bins whose documents may be out of date.
	dirty map[document.Bin]bool
	// left are records that moved to another bin, by the closed bin that they left: its documents
	// keep them until the new bin is written.
	left map[document.Bin][]Record
	// stored are the documents that the ledger was loaded from, by name.
	stored map[string]storedDocument
	days   map[document.Bin]bool // days with daily documents, by their first hour
	// foldAt is how many recent records are always kept.
	foldAt int
}

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

func (s *saved) keep(name string, d storedDocument) {
	s.stored[name] = d
	if d.Kind == document.Day {
		s.days[d.First] = true
	}
}

// leave keeps the old record in the documents of the bin that it leaves.
func (s *saved) leave(kept bool, from, to document.Bin, said *Record) {
	if kept && from != to {
		s.left[from] = append(s.left[from], *said)
	}
}

func binOf(r *Record) document.Bin { return document.BinAt(int64(r.End.At), r.UID) }
