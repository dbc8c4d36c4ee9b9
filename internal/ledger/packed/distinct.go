package packed

// Distinct keeps one copy of each value that many records share.
type Distinct[T any] struct {
	Values []*T // by their numbers
	index  Index
	same   func(a, b *T) bool
}

// NewDistinct returns an empty Distinct; same reports whether two values are equal.
func NewDistinct[T any](same func(a, b *T) bool) Distinct[T] { return Distinct[T]{same: same} }

// Add returns the number of a value. If the value is new, it stores the result of copied.
func (i *Distinct[T]) Add(hash uint64, value *T, copied func(number int32) *T) uint32 {
	number, found := i.index.Find(hash, func(n uint32) bool { return i.same(i.Values[n], value) })
	if !found {
		number = uint32(len(i.Values))
		i.Values = append(i.Values, copied(int32(number)))
		i.index.Add(hash, number)
	}
	return number
}

// Has reports whether the value is the stored copy with this number.
func (i *Distinct[T]) Has(value *T, id int32) bool {
	return int(id) < len(i.Values) && i.Values[id] == value
}
