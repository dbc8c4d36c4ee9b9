package columns

import (
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// compressed packs pages as parquet.Zstd does, byte for byte, by encoders that are kept:
// each has tables of more than a megabyte, which take longer to make than a document.
// The library's pool forgets them whenever the garbage collector runs.
type compressed struct{ compress.Codec }

func newCompressed() compressed { return compressed{&parquet.Zstd} }

// kept are encoders that nobody uses at the moment: no more than are worth their room.
var kept = make(chan *zstd.Encoder, 2)

// Encode packs a page.
func (compressed) Encode(dst, src []byte) ([]byte, error) {
	var e *zstd.Encoder
	select {
	case e = <-kept:
	default:
		var err error
		if e, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false)); err != nil {
			return nil, err
		}
	}
	packed := e.EncodeAll(src, dst[:0])
	select {
	case kept <- e:
	default:
	}
	return packed, nil
}
