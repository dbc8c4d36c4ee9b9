package packed

// Distinct keeps one copy of each of what many records have in common.
type Distinct[T any] struct {
	Values []*T // by their numbers
	index  Index
	same   func(a, b *T) bool
}

// NewDistinct takes what says of two values that they are the same.
func NewDistinct[T any](same func(a, b *T) bool) Distinct[T] { return Distinct[T]{same: same} }

// Add returns the number of a value, which copied makes where it is new.
func (i *Distinct[T]) Add(hash uint64, value *T, copied func(number int32) *T) uint32 {
	number, found := i.index.Find(hash, func(n uint32) bool { return i.same(i.Values[n], value) })
	if !found {
		number = uint32(len(i.Values))
		i.Values = append(i.Values, copied(int32(number)))
		i.index.Add(hash, number)
	}
	return number
}

// Has says whether the value is itself the one that is kept under a number.
func (i *Distinct[T]) Has(value *T, id int32) bool {
	return int(id) < len(i.Values) && i.Values[id] == value
}
