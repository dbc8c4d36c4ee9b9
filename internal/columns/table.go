package columns

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	maxFooter = 64 << 10
	// maxBody limits the uncompressed pages of a document in bytes.
	maxBody = 16 << 20
	// MaxValues limits the values of a document in all columns, including nulls.
	MaxValues = 4 << 20
)

// Reasons why a document cannot be read.
var (
	ErrForm  = errors.New("its content is not of the right form")
	ErrLarge = errors.New("it has more in it than any that is written")
)

// Table is a decoded document in Parquet. It reuses its memory.
type Table struct {
	Rows    int
	Columns []Column // the leaves of the schema, in its order

	texts   map[string]string // of its metadata, by key
	schemas []schema          // of every document
	zstd    *zstd.Decoder
	page    []byte
	bytes   int // uncompressed bytes that pages may still have
	values  int // values that columns may still have
}

// schema is one that documents may have. It has the first columns of the table.
type schema struct {
	elements thrift.Slice[format.SchemaElement]
	columns  int
}

// NewTable reads the schema from a document without rows. Optional columns may have been added at
// its end: older are the numbers of columns that documents had before. Their rows have no value in
// the other columns.
func NewTable[T any](older ...int) (*Table, error) {
	t := &Table{}
	rows := parquet.SchemaOf(*new(T))
	for _, path := range rows.Columns() {
		leaf, _ := rows.Lookup(path...)
		t.Columns = append(t.Columns, Column{
			kind: leaf.Node.Type().Kind(), maxRep: leaf.MaxRepetitionLevel, maxDef: leaf.MaxDefinitionLevel,
			coded: leaf.Node.Encoding() != nil && leaf.Node.Encoding().Encoding() == format.RLEDictionary,
		})
	}
	empty, err := Encode[T](nil, "", "")
	if err != nil {
		return nil, err
	}
	meta, err := footer(empty)
	if err != nil {
		return nil, err
	}
	for _, columns := range append([]int{len(t.Columns)}, older...) {
		t.schemas = append(t.schemas, schema{shortened(meta.Schema, len(t.Columns)-columns), columns})
	}
	return t, t.newDecoder()
}

// shortened returns a schema without its last columns, which are in no group.
func shortened(elements []format.SchemaElement, columns int) []format.SchemaElement {
	elements = slices.Clone(elements[:len(elements)-columns])
	for range columns {
		elements[0].NumChildren.V--
	}
	return elements
}

// New returns an empty table of the same schema. It is much faster than NewTable.
func (t *Table) New() (*Table, error) {
	empty := &Table{Columns: make([]Column, len(t.Columns)), schemas: t.schemas}
	for n, c := range t.Columns {
		empty.Columns[n] = Column{kind: c.kind, maxRep: c.maxRep, maxDef: c.maxDef, coded: c.coded}
	}
	return empty, empty.newDecoder()
}

func (t *Table) newDecoder() (err error) {
	t.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBody))
	return err
}

// Read decodes a document. It overwrites the one before.
func (t *Table) Read(data []byte) error {
	meta, err := footer(data)
	if err != nil {
		return err
	}
	n := slices.IndexFunc(t.schemas, func(s schema) bool { return reflect.DeepEqual(meta.Schema, s.elements) })
	if n < 0 || len(meta.RowGroups) != 1 {
		return ErrForm
	}
	group, written := &meta.RowGroups[0], t.schemas[n].columns
	if len(group.Columns) != written || group.NumRows != meta.NumRows || meta.NumRows < 0 || meta.NumRows > MaxValues {
		return ErrForm
	}
	t.texts = make(map[string]string, len(meta.KeyValueMetadata))
	for _, kv := range meta.KeyValueMetadata {
		t.texts[kv.Key] = kv.Value
	}
	t.Rows, t.bytes, t.values = int(meta.NumRows), maxBody, MaxValues
	for n := range t.Columns {
		c := &t.Columns[n]
		*c = Column{
			kind: c.kind, maxRep: c.maxRep, maxDef: c.maxDef, coded: c.coded,
			rep: c.rep[:0], def: c.def[:0], Dict: c.Dict[:0], codes: c.codes[:0], ints: c.ints[:0], text: c.text[:0], ends: c.ends[:0],
		}
		if n >= written {
			continue
		}
		if err := t.chunk(c, &group.Columns[n].MetaData, data); err != nil {
			return err
		}
	}
	return nil
}

// Text returns the document's metadata under a key, or "".
func (t *Table) Text(key string) string { return t.texts[key] }

// footer decodes a document's metadata.
func footer(data []byte) (meta format.FileMetaData, err error) {
	const tail = 8 // the footer's length, and the magic
	mark := []byte("PAR1")
	if len(data) < len(mark)+tail || !bytes.HasPrefix(data, mark) || !bytes.HasSuffix(data, mark) {
		return meta, ErrForm
	}
	length := binary.LittleEndian.Uint32(data[len(data)-tail:])
	if length > maxFooter {
		return meta, ErrLarge
	}
	if int(length) > len(data)-len(mark)-tail {
		return meta, ErrForm
	}
	_, err = decodeThrift(data[len(data)-tail-int(length):len(data)-tail], &meta)
	return meta, err
}

// bounded reads Thrift in which no list has more elements than remaining bytes.
type bounded struct {
	thrift.BytesReader
	length int
}

func (b bounded) ReadList() (thrift.List, error) {
	list, err := b.BytesReader.ReadList()
	if err == nil && int(list.Size) > b.length-b.BytesRead() {
		err = ErrForm
	}
	return list, err
}

// decodeThrift reads one structure, and returns its length.
func decodeThrift(data []byte, to any) (int, error) {
	r := bounded{BytesReader: new(thrift.CompactProtocol).NewReaderFromBytes(data), length: len(data)}
	if err := thrift.NewDecoder(r).Decode(to); err != nil {
		return 0, ErrForm
	}
	return r.BytesRead(), nil
}

func (t *Table) chunk(c *Column, meta *format.ColumnMetaData, data []byte) error {
	from, length := meta.DataPageOffset, meta.TotalCompressedSize
	if meta.DictionaryPageOffset > 0 {
		from = min(from, meta.DictionaryPageOffset)
	}
	if from < 0 || length < 0 || from > int64(len(data)) || length > int64(len(data))-from || meta.Codec != format.Zstd {
		return ErrForm
	}
	for pages := data[from : from+length]; len(pages) > 0; {
		var header format.PageHeader
		n, err := decodeThrift(pages[:min(len(pages), maxFooter)], &header)
		if err != nil {
			return err
		}
		size := int(header.CompressedPageSize)
		if size < 0 || size > len(pages)-n {
			return ErrForm
		}
		body := pages[n : n+size]
		pages = pages[n+size:]
		switch {
		case header.Type == format.DictionaryPage && c.coded && len(c.Dict) == 0:
			err = t.dictionary(c, int(header.DictionaryPageHeader.V.NumValues), body)
		case header.Type == format.DataPageV2:
			err = t.dataPage(c, &header.DataPageHeaderV2.V, body)
		default:
			err = ErrForm
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
	if rows != t.Rows {
		return ErrForm
	}
	return nil
}

// unpack decompresses a page; it is valid until the next.
func (t *Table) unpack(packed []byte) ([]byte, error) {
	page, err := t.zstd.DecodeAll(packed, t.page[:0])
	if t.bytes -= len(page); errors.Is(err, zstd.ErrDecoderSizeExceeded) || t.bytes < 0 {
		return nil, ErrLarge
	} else if err != nil {
		return nil, ErrForm
	}
	t.page = page
	return page, nil
}

// take counts values before memory is allocated for them.
func (t *Table) take(values int) error {
	if values < 0 {
		return ErrForm
	}
	if t.values -= values; t.values < 0 {
		return ErrLarge
	}
	return nil
}

func (t *Table) dictionary(c *Column, values int, body []byte) error {
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
			return ErrForm
		}
		c.Dict = append(c.Dict, string(text))
		page = rest
	}
	return nil
}

// cutText splits off the first of several plain texts.
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

func (t *Table) dataPage(c *Column, header *format.DataPageHeaderV2, body []byte) error {
	values, nulls := int(header.NumValues), int(header.NumNulls)
	rep, def := int(header.RepetitionLevelsByteLength), int(header.DefinitionLevelsByteLength)
	if err := t.take(values); err != nil {
		return err
	}
	if nulls < 0 || nulls > values || rep < 0 || def < 0 || rep > len(body) || def > len(body)-rep {
		return ErrForm
	}
	var ok bool
	if c.maxRep > 0 {
		if c.rep, ok = levels(c.rep, body[:rep], values, c.maxRep); !ok {
			return ErrForm
		}
	}
	if c.maxDef > 0 {
		before := len(c.def)
		if c.def, ok = levels(c.def, body[rep:rep+def], values, c.maxDef); !ok {
			return ErrForm
		}
		if values-nulls != bytes.Count(c.def[before:], []byte{byte(c.maxDef)}) {
			return ErrForm
		}
	} else if nulls > 0 {
		return ErrForm
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
