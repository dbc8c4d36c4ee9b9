package directory

// Create makes the store in a directory, as Open does once it saw none there.
func Create(path string) error {
	s, err := at(path, "")
	if err == nil {
		err = s.create()
	}
	return err
}
