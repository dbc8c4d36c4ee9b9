package kubernetes

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Names on the objects of the store.
const (
	kindLabel       = "gpupool/kind"
	keyAnnotation   = "gpupool/key"
	writeAnnotation = "gpupool/write"
	managedByLabel  = "app.kubernetes.io/managed-by"
	managedBy       = "gpupool"
)

// The entries of an object that can contain a document.
const (
	plainEntry      = "document"
	compressedEntry = "document.gz"
	parquetEntry    = "document" + store.Parquet // which compresses its own content
)

const (
	// maxObject limits the data of one Secret or ConfigMap in bytes (MaxSecretSize in
	// k8s.io/api/core/v1).
	maxObject = 1 << 20
	// compressAbove is the size above which compression matters more than text that kubectl can
	// show.
	compressAbove = 128 << 10
	// maxDocument limits the memory that a damaged object can use.
	maxDocument = 256 << 20
)

// newObject encodes a document as an object with a new write ID.
func newObject(key store.Key, data []byte) (object, error) {
	o := object{ObjectMeta: metav1.ObjectMeta{
		Name:   documentName(key),
		Labels: map[string]string{kindLabel: string(key.Kind), managedByLabel: managedBy},
		Annotations: map[string]string{
			keyAnnotation: key.String(), writeAnnotation: rand.Text(),
		},
	}}
	entry := plainEntry
	if strings.HasSuffix(key.Name, store.Parquet) {
		entry = parquetEntry
	} else if len(data) > compressAbove {
		compressed, err := compress(data)
		if err != nil {
			return object{}, err
		}
		if len(compressed) < len(data) {
			entry, data = compressedEntry, compressed
		}
	}
	if len(data) > maxObject {
		return object{}, fmt.Errorf("%w: %s takes %d bytes, and an object of the Kubernetes API holds %d", store.ErrTooLarge, key, len(data), maxObject)
	}
	if entry == plainEntry && !key.Kind.Secret() && utf8.Valid(data) && !bytes.ContainsRune(data, 0) {
		o.text = map[string]string{entry: string(data)}
	} else {
		o.data = map[string][]byte{entry: bytes.Clone(data)}
	}
	return o, nil
}

func (o object) document(key store.Key) (store.Document, error) {
	data, err := o.contents()
	if err != nil {
		return store.Document{}, err
	}
	return store.Document{Key: key, Revision: store.Revision(o.ResourceVersion), Data: data}, nil
}

// listed returns the document of an object in a list, without data if it is damaged.
func (o object) listed(key store.Key) store.Document {
	d, err := o.document(key)
	if err != nil {
		return store.Document{Key: key, Revision: store.Revision(o.ResourceVersion)}
	}
	return d
}

func (o object) contents() ([]byte, error) {
	if data, ok := o.data[compressedEntry]; ok {
		return decompress(data)
	}
	for _, entry := range []string{plainEntry, parquetEntry} {
		if data, ok := o.data[entry]; ok {
			return nonNil(data), nil
		}
	}
	if text, ok := o.text[plainEntry]; ok {
		return []byte(text), nil
	}
	return nil, fmt.Errorf("it has no entry %q, %q or %q: restore it from a copy", plainEntry, compressedEntry, parquetEntry)
}

// nonNil keeps an empty document distinct from none, as in every backend.
func nonNil(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// key returns the key of an object in a list. ok is false for an object that was copied under
// another name: it does not belong to the store. If the object lost its key, the key comes from its
// name, as far as that was not shortened.
func (o object) key(kind store.Kind) (key store.Key, ok bool) {
	name, ours := strings.CutPrefix(o.Annotations[keyAnnotation], string(kind)+"/")
	key = store.Key{Kind: kind, Name: name}
	switch {
	case ours && key.Validate() == nil:
		return key, documentName(key) == o.Name
	case o.Labels[kindLabel] == string(kind) && strings.HasPrefix(o.Name, prefix):
	case !namedAs(kind, o.Name):
		return key, false
	}
	key.Name = strings.TrimPrefix(o.Name, objectName(string(kind), ""))
	readable, isParquet := strings.CutSuffix(key.Name, store.Parquet)
	key.Name = strings.NewReplacer(".", "/", "--", "_").Replace(readable)
	if isParquet {
		key.Name += store.Parquet
	}
	if key.Validate() != nil || documentName(key) != o.Name {
		key.Name = o.Name
	}
	return key, true
}

func compress(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(data)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func decompress(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("its entry %q cannot be decompressed: %w", compressedEntry, err)
	}
	out, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err == nil && len(out) > maxDocument {
		err = fmt.Errorf("more than %d bytes", maxDocument)
	}
	if err != nil {
		return nil, fmt.Errorf("its entry %q cannot be decompressed: %w", compressedEntry, err)
	}
	return out, nil
}
