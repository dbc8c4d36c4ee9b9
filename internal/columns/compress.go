package columns

import (
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// compressed compresses pages as parquet.Zstd does, byte for byte, with encoders that are kept.
// Each has tables of more than a megabyte, which take longer to create than a document. The
// library's pool drops them at each garbage collection.
type compressed struct{ compress.Codec }

func newCompressed() compressed { return compressed{&parquet.Zstd} }

// kept are idle encoders, at most as many as are worth their memory.
var kept = make(chan *zstd.Encoder, 2)

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
