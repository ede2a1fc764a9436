//go:build !unix

package queue

import "os"

// lockFile holds the file open; elsewhere than on Unix only an operator keeps two processes apart.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}
