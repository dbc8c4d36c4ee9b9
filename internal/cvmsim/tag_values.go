package cvmsim

// tagBook remembers every value that was ever used with a tag key, over all
// regions of the account. A tag outlives the resources that have it.
type tagBook map[string]map[string]bool

// tagRecord is how a value is kept.
type tagRecord Tag

// key parts the tag with a character that neither half can have.
func (r tagRecord) key() string { return "tag/" + r.Key + "\x00" + r.Value }

// add reports whether the value is new.
func (b tagBook) add(t Tag) bool {
	values := b[t.Key]
	if values == nil {
		values = map[string]bool{}
		b[t.Key] = values
	}
	if values[t.Value] {
		return false
	}
	values[t.Value] = true
	return true
}

// keys names the records of the book.
func (b tagBook) keys() []string {
	var keys []string
	for key, values := range b {
		for value := range values {
			keys = append(keys, tagRecord{key, value}.key())
		}
	}
	return keys
}

// rememberTags notes that tags are used.
func (w *world) rememberTags(tags []Tag) {
	for _, t := range tags {
		w.rememberTagKey(t.Key)
		if w.tagValues.add(t) {
			w.touch(tagRecord(t).key())
		}
	}
}

// valuesOf returns the values that were ever used with a tag key.
func (w *world) valuesOf(key string) map[string]bool { return w.tagValues[key] }

// hasTagKey reports whether a tag key was ever created.
func (w *world) hasTagKey(key string) bool { return w.tagKeys[key] }

// checkTagValues refuses tags that would give a key more values than the
// setting allows. LimitExceeded.TagValue is what the tag API lists for it, with
// a limit of 1,000 (tag errors.go; AddResourceTag, ModifyResourceTags,
// TagResources and others in its client.go). RunInstances lists no code of its
// own for it, only InvalidParameterValue.TagQuotaLimitExceeded, which doesn't
// say what quota; that it passes the tag API's code on is assumed, documented
// nowhere. So is that a value counts for as long as the account exists.
func checkTagValues(w *world, tags []Tag) *apiError {
	limit := w.settings.TagValuesPerKey
	if limit == 0 {
		return nil
	}
	for _, t := range tags { // no key is in them twice
		if values := w.valuesOf(t.Key); !values[t.Value] && len(values) >= limit {
			return fail("LimitExceeded.TagValue", "The tag key `%s` has %d values, which is the limit.", printable(t.Key), len(values))
		}
	}
	return nil
}
