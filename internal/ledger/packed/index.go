package packed

// Index finds numbers by the hash of their values. It is a table with open addressing: a slot
// contains half of the hash above the number plus one.
type Index struct {
	slots []uint64
	used  int
}

const numberBits = 32

// Find returns the number with this hash for which same is true.
func (x *Index) Find(hash uint64, same func(number uint32) bool) (uint32, bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(x.slots) - 1)
	half := hash >> numberBits
	for at := half & mask; x.slots[at] != 0; at = (at + 1) & mask {
		if x.slots[at]>>numberBits == half {
			if number := uint32(x.slots[at]) - 1; same(number) {
				return number, true
			}
		}
	}
	return 0, false
}

// Add adds a number by the hash of its value.
func (x *Index) Add(hash uint64, number uint32) {
	x.Reserve(x.used + 1)
	x.put(hash>>numberBits<<numberBits | uint64(number+1))
	x.used++
}

// Reserve makes room for more numbers.
func (x *Index) Reserve(numbers int) {
	size := max(len(x.slots), 16)
	for numbers > size/4*3 {
		size *= 2
	}
	if size == len(x.slots) {
		return
	}
	old := x.slots
	x.slots = make([]uint64, size)
	for _, slot := range old {
		if slot != 0 {
			x.put(slot)
		}
	}
}

func (x *Index) put(slot uint64) {
	mask := uint64(len(x.slots) - 1)
	at := slot >> numberBits & mask
	for x.slots[at] != 0 {
		at = (at + 1) & mask
	}
	x.slots[at] = slot
}
