package columns

import (
	"bytes"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Encode encodes rows as a document, with a text under a key of its metadata. The same rows always
// give the same bytes.
func Encode[T any](rows []T, key, text string) ([]byte, error) {
	var out bytes.Buffer
	w := NewWriter[T](&out, key, text)
	if _, err := w.Write(rows); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// NewWriter returns a writer of any number of rows, for programs that read any Parquet. A flush
// between rows starts another row group, of which a document has only one. A writer is not reused,
// since it would lose the columns' names.
func NewWriter[T any](out io.Writer, key, text string) *parquet.GenericWriter[T] {
	return parquet.NewGenericWriter[T](out,
		parquet.Compression(newCompressed()), parquet.DefaultEncoding(&parquet.Plain), parquet.DefaultEncodingFor(parquet.Int64, &parquet.DeltaBinaryPacked),
		parquet.DataPageStatistics(false), parquet.CreatedBy("gpupool", "", ""), parquet.KeyValueMetadata(key, text),
	)
}
