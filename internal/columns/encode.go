package columns

import (
	"bytes"

	"github.com/parquet-go/parquet-go"
)

// Encode writes rows as a document, with a text under a key in its metadata. The
// same rows always make the same bytes.
func Encode[T any](rows []T, key, text string) ([]byte, error) {
	var out bytes.Buffer
	// A writer is deliberately not used again: it would forget the columns' names.
	w := parquet.NewGenericWriter[T](&out,
		parquet.Compression(&parquet.Zstd), parquet.DefaultEncoding(&parquet.Plain), parquet.DefaultEncodingFor(parquet.Int64, &parquet.DeltaBinaryPacked),
		parquet.DataPageStatistics(false), parquet.CreatedBy("gpupool", "", ""), parquet.KeyValueMetadata(key, text),
	)
	if _, err := w.Write(rows); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
