package columns

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestPagesArePackedAsByTheLibrary: documents that were written before have the same
// bytes now, whatever was packed before them.
func TestPagesArePackedAsByTheLibrary(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var pages [][]byte
	for _, size := range []int{0, 1, 100, 5_000, 300_000} {
		page := bytes.Repeat([]byte("node-1 nvidia.com/gpu "), size/22+1)[:size]
		for range size / 50 {
			page[random.IntN(size)] = byte(random.IntN(256))
		}
		pages = append(pages, page)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 3 {
				for _, page := range pages {
					want, err := parquet.Zstd.Encode(nil, page)
					if err != nil {
						t.Error(err)
					}
					got, err := newCompressed().Encode(make([]byte, 7), page)
					if err != nil || !bytes.Equal(got, want) {
						t.Errorf("%d bytes are packed into %d, want the library's %d (%v)", len(page), len(got), len(want), err)
					}
				}
			}
		})
	}
	group.Wait()
}
