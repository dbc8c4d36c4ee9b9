package record

import (
	"crypto/sha256"
	"sync"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

// opened are the documents that this process checked last. Most documents do not change between two
// runs. The key is the hash of the whole content, so that no answer can be out of date.
var opened = &openedDocuments{}

const (
	// openedAtMost is the size of each of the two generations of bodies that are kept.
	openedAtMost = 4 << 20
	// openedDocumentAtMost is the size of the largest document that is kept.
	openedDocumentAtMost = 64 << 10
)

type contentHash [sha256.Size]byte

// openedDocuments has values of declaration.Opened. When the recent generation is full, it becomes the
// earlier one. Documents that are used stay.
type openedDocuments struct {
	mu              sync.Mutex
	recent, earlier map[contentHash]any
	size            int // of the recent ones
}

func (o *openedDocuments) find(hash contentHash) any {
	o.mu.Lock()
	defer o.mu.Unlock()
	if document, kept := o.recent[hash]; kept {
		return document
	}
	return o.earlier[hash]
}

func (o *openedDocuments) keep(hash contentHash, document any, size int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, kept := o.recent[hash]; kept {
		return
	}
	if o.recent == nil || o.size+size > openedAtMost {
		o.recent, o.earlier, o.size = map[contentHash]any{}, o.recent, 0
	}
	o.recent[hash], o.size = document, o.size+size
}

// decode is declaration.Decode. It checks the envelope of the same content once.
func decode[T declaration.Body](what string, data []byte) (T, error) {
	if len(data) > openedDocumentAtMost {
		return declaration.Decode[T](what, data)
	}
	hash := contentHash(sha256.Sum256(data))
	document, kept := opened.find(hash).(declaration.Opened[T])
	if !kept {
		var err error
		if document, err = declaration.Open[T](what, data); err != nil {
			var none T
			return none, err
		}
	}
	opened.keep(hash, document, len(hash)+document.Size())
	return document.Decode(what)
}
