package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// What is read of Parquet is what [encode] writes, and no more: one group of rows,
// its columns by dictionary or plain, in pages of the second version under Zstandard.
// The library's own reader is deliberately not used, because it makes room for
// whatever a page announces. Here each page is held to these bounds first.
const (
	maxFooter = 64 << 10
	// maxBody is how many bytes the pages of a document unpack to at most.
	maxBody = 16 << 20
	// maxValues is how many values a document has at most, in all of its columns,
	// those that are null included.
	maxValues = 4 << 20
)

var (
	errBody  = errors.New("its content is not of the right form")
	errLarge = errors.New("it has more in it than any that is written")
)

// table is a document in Parquet, taken apart. It keeps what that takes room for.
type table struct {
	rows    int
	columns []column

	schema []format.SchemaElement // that each document must have
	zstd   *zstd.Decoder
	page   []byte
	bytes  int // that pages may still unpack to
	values int // that columns may still have
}

// newTable learns the schema from a document without a row, as it is written.
func newTable() (*table, error) {
	t := &table{}
	for _, path := range parquet.SchemaOf(interval{}).Columns() {
		leaf, _ := parquet.SchemaOf(interval{}).Lookup(path...)
		t.columns = append(t.columns, column{
			kind: leaf.Node.Type().Kind(), maxRep: leaf.MaxRepetitionLevel, maxDef: leaf.MaxDefinitionLevel,
			coded: leaf.Node.Encoding() != nil && leaf.Node.Encoding().Encoding() == format.RLEDictionary,
		})
	}
	empty, err := encode("", nil)
	if err != nil {
		return nil, err
	}
	meta, err := footer(empty)
	if err != nil {
		return nil, err
	}
	t.schema = meta.Schema
	t.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBody))
	return t, err
}

// read takes a document apart. What it had of another before is overwritten.
func (t *table) read(data []byte) error {
	meta, err := footer(data)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(meta.Schema, thrift.Slice[format.SchemaElement](t.schema)) || len(meta.RowGroups) != 1 {
		return errBody
	}
	group := &meta.RowGroups[0]
	if len(group.Columns) != len(t.columns) || group.NumRows != meta.NumRows || meta.NumRows < 0 || meta.NumRows > maxValues {
		return errBody
	}
	t.rows, t.bytes, t.values = int(meta.NumRows), maxBody, maxValues
	for n := range t.columns {
		c := &t.columns[n]
		*c = column{
			kind: c.kind, maxRep: c.maxRep, maxDef: c.maxDef, coded: c.coded,
			rep: c.rep[:0], def: c.def[:0], dict: c.dict[:0], codes: c.codes[:0], ints: c.ints[:0], text: c.text[:0], ends: c.ends[:0],
		}
		if err := t.chunk(c, &group.Columns[n].MetaData, data); err != nil {
			return err
		}
	}
	return nil
}

// footer reads what a document says of itself.
func footer(data []byte) (meta format.FileMetaData, err error) {
	const tail = 8 // the footer's length, and a mark
	mark := []byte("PAR1")
	if len(data) < len(mark)+tail || !bytes.HasPrefix(data, mark) || !bytes.HasSuffix(data, mark) {
		return meta, errBody
	}
	length := binary.LittleEndian.Uint32(data[len(data)-tail:])
	if length > maxFooter {
		return meta, errLarge
	}
	if int(length) > len(data)-len(mark)-tail {
		return meta, errBody
	}
	_, err = decodeThrift(data[len(data)-tail-int(length):len(data)-tail], &meta)
	return meta, err
}

// bounded reads Thrift, in which no list has more elements than bytes follow.
type bounded struct {
	thrift.BytesReader
	length int
}

func (b bounded) ReadList() (thrift.List, error) {
	list, err := b.BytesReader.ReadList()
	if err == nil && int(list.Size) > b.length-b.BytesRead() {
		err = errBody
	}
	return list, err
}

// decodeThrift reads one structure, and returns how long it is.
func decodeThrift(data []byte, to any) (int, error) {
	r := bounded{BytesReader: new(thrift.CompactProtocol).NewReaderFromBytes(data), length: len(data)}
	if err := thrift.NewDecoder(r).Decode(to); err != nil {
		return 0, errBody
	}
	return r.BytesRead(), nil
}

// chunk reads the pages of a column.
func (t *table) chunk(c *column, meta *format.ColumnMetaData, data []byte) error {
	from, length := meta.DataPageOffset, meta.TotalCompressedSize
	if meta.DictionaryPageOffset > 0 {
		from = min(from, meta.DictionaryPageOffset)
	}
	if from < 0 || length < 0 || from > int64(len(data)) || length > int64(len(data))-from || meta.Codec != format.Zstd {
		return errBody
	}
	for pages := data[from : from+length]; len(pages) > 0; {
		var header format.PageHeader
		n, err := decodeThrift(pages[:min(len(pages), maxFooter)], &header)
		if err != nil {
			return err
		}
		size := int(header.CompressedPageSize)
		if size < 0 || size > len(pages)-n {
			return errBody
		}
		body := pages[n : n+size]
		pages = pages[n+size:]
		switch {
		case header.Type == format.DictionaryPage && c.coded && len(c.dict) == 0:
			err = t.dictionary(c, int(header.DictionaryPageHeader.V.NumValues), body)
		case header.Type == format.DataPageV2:
			err = t.dataPage(c, &header.DataPageHeaderV2.V, body)
		default:
			err = errBody
		}
		if err != nil {
			return err
		}
	}
	rows := c.length
	if c.maxDef > 0 {
		rows = len(c.def)
	}
	if c.maxRep > 0 {
		rows = bytes.Count(c.rep, []byte{0})
	}
	if rows != t.rows {
		return errBody
	}
	return nil
}

// unpack unpacks a page; it is valid until the next.
func (t *table) unpack(packed []byte) ([]byte, error) {
	page, err := t.zstd.DecodeAll(packed, t.page[:0])
	if t.bytes -= len(page); errors.Is(err, zstd.ErrDecoderSizeExceeded) || t.bytes < 0 {
		return nil, errLarge
	} else if err != nil {
		return nil, errBody
	}
	t.page = page
	return page, nil
}

// take counts values before there is room made for them.
func (t *table) take(values int) error {
	if values < 0 {
		return errBody
	}
	if t.values -= values; t.values < 0 {
		return errLarge
	}
	return nil
}

func (t *table) dictionary(c *column, values int, body []byte) error {
	page, err := t.unpack(body)
	if err == nil {
		err = t.take(values)
	}
	if err != nil {
		return err
	}
	for range values {
		text, rest, ok := cutText(page)
		if !ok {
			return errBody
		}
		c.dict = append(c.dict, string(text))
		page = rest
	}
	return nil
}

// cutText cuts the first of plain texts off.
func cutText(page []byte) (text, rest []byte, ok bool) {
	if len(page) < 4 {
		return nil, nil, false
	}
	length := binary.LittleEndian.Uint32(page)
	if page = page[4:]; uint64(length) > uint64(len(page)) {
		return nil, nil, false
	}
	return page[:length], page[length:], true
}

func (t *table) dataPage(c *column, header *format.DataPageHeaderV2, body []byte) error {
	values, nulls := int(header.NumValues), int(header.NumNulls)
	rep, def := int(header.RepetitionLevelsByteLength), int(header.DefinitionLevelsByteLength)
	if err := t.take(values); err != nil {
		return err
	}
	if nulls < 0 || nulls > values || rep < 0 || def < 0 || rep > len(body) || def > len(body)-rep {
		return errBody
	}
	var ok bool
	if c.maxRep > 0 {
		if c.rep, ok = levels(c.rep, body[:rep], values, c.maxRep); !ok {
			return errBody
		}
	}
	if c.maxDef > 0 {
		before := len(c.def)
		if c.def, ok = levels(c.def, body[rep:rep+def], values, c.maxDef); !ok {
			return errBody
		}
		if values-nulls != bytes.Count(c.def[before:], []byte{byte(c.maxDef)}) {
			return errBody
		}
	} else if nulls > 0 {
		return errBody
	}
	page, err := body[rep+def:], error(nil)
	if len(page) > 0 && (!header.IsCompressed.Valid || header.IsCompressed.V) {
		if page, err = t.unpack(page); err != nil {
			return err
		}
	}
	c.length += values - nulls
	return c.decode(page, values-nulls, header.Encoding)
}
