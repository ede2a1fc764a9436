package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// Load reads the state kept under a key into v and tells whether there was one.
func (s *Store) Load(ctx context.Context, key string, v any) (bool, error) {
	entry, err := s.state.Get(ctx, stateKey(key))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("load state: %w", err)
	}
	return true, json.Unmarshal(entry.Value(), v)
}

// Save keeps a state for 30 days.
func (s *Store) Save(ctx context.Context, key string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := s.state.Put(ctx, stateKey(key), data); err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	return nil
}

// First tells whether nobody kept this key before, and keeps it: of many callers, one is first.
func (s *Store) First(ctx context.Context, key string) (bool, error) {
	_, err := s.state.Create(ctx, stateKey(key), []byte("true"))
	if errors.Is(err, jetstream.ErrKeyExists) {
		return false, nil
	}
	return err == nil, err
}

// Latest are the states whose keys begin with a class ("seen:"), of those kept last at most so many.
func (s *Store) Latest(ctx context.Context, class string, most int) (latest [][]byte, err error) {
	listed, err := s.state.ListKeysFiltered(ctx, class+".*")
	if err != nil {
		return nil, err
	}
	var keys []string // those kept last are the last
	for key := range listed.Keys() {
		keys = append(keys, key)
	}
	for _, key := range keys[max(0, len(keys)-most):] {
		entry, err := s.state.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		latest = append(latest, entry.Value())
	}
	return latest, nil
}

// Each calls f with every state whose key begins with a class ("issue:"), until f returns false.
func (s *Store) Each(ctx context.Context, class string, f func(data []byte) bool) error {
	keys, err := s.state.ListKeysFiltered(ctx, class+".*")
	if err != nil {
		return err
	}
	defer func() { _ = keys.Stop() }() // it fails when the keys have all come
	for key := range keys.Keys() {
		entry, err := s.state.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if !f(entry.Value()) {
			return nil
		}
	}
	return nil
}

// stateKey keeps a key's class, the word before its first colon, readable.
func stateKey(key string) string {
	class, _, _ := strings.Cut(key, ":")
	return class + "." + token(key)
}

// token makes a NATS subject token of any text.
func token(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:20])
}
