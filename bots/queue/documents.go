package queue

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// ErrNotKept says that no document is kept under an id: it never was, or its 30 days are over.
var ErrNotKept = errors.New("no such document, or it is older than 30 days")

// Keep keeps a document of at most MaxBytes for 30 days, or until newer ones need its room.
func (s *Store) Keep(ctx context.Context, id string, document []byte) error {
	if err := s.Writable(); err != nil {
		return fmt.Errorf("keep a document: %w", err)
	}
	if _, err := s.kept.Put(ctx, id, document); err != nil {
		return fmt.Errorf("keep a document: %w", err)
	}
	return nil
}

// Kept returns a document, or ErrNotKept.
func (s *Store) Kept(ctx context.Context, id string) ([]byte, error) {
	entry, err := s.kept.Get(ctx, id)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, ErrNotKept
	}
	if err != nil {
		return nil, fmt.Errorf("read a document: %w", err)
	}
	return entry.Value(), nil
}

// Forget deletes a document. It is ErrNotKept when there is none.
func (s *Store) Forget(ctx context.Context, id string) error {
	if _, err := s.Kept(ctx, id); err != nil {
		return err
	}
	if err := s.kept.Purge(ctx, id); err != nil {
		return fmt.Errorf("delete a document: %w", err)
	}
	return nil
}

// Seal returns 40 hexadecimal digits that nobody can work out from the texts alone, the same for the same texts in every replica.
func (s *Store) Seal(ctx context.Context, texts ...string) (string, error) {
	key, err := s.secret(ctx)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	for _, text := range texts {
		fmt.Fprintf(mac, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(mac.Sum(nil)[:20]), nil
}

// secret is the key from which seals are made. The first who asks makes it.
func (s *Store) secret(ctx context.Context) ([]byte, error) {
	name := token("report key")
	if entry, err := s.kept.Get(ctx, name); err == nil {
		return entry.Value(), nil
	}
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh)
	_, err := s.kept.Create(ctx, name, fresh)
	if err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return nil, err
	}
	entry, err := s.kept.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	return entry.Value(), nil
}
