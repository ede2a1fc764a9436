package queue

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Vault keeps secrets for good. What is on disk is sealed (AES-256-GCM) with a key that the store does not have, and bound to its name.
type Vault struct {
	store  *Store
	bucket jetstream.KeyValue
	keys   []cipher.AEAD // the first seals, every one opens
}

// leastKey is how long a text has to be from which a key is made, in characters.
const leastKey = 32

// ErrWrongKey says that none of the keys opens what is in the vault.
var ErrWrongKey = errors.New("what was stored is sealed with another key")

// Vault opens the vault. Keys are texts of at least 32 characters: the first seals, the others open what was sealed before it, which is
// then sealed with the first. What none of them opens is ErrWrongKey, or deleted when forget is set. Without keys there is no vault, nil,
// unless something is in it.
func (s *Store) Vault(ctx context.Context, keys []string, forget bool) (*Vault, error) {
	v := &Vault{store: s, bucket: s.vault}
	for _, key := range keys {
		if len(key) < leastKey {
			return nil, fmt.Errorf("a key of %d characters: it has at least %d, as `openssl rand -hex 32` prints them", len(key), leastKey)
		}
		aead, err := sealer(key)
		if err != nil {
			return nil, err
		}
		v.keys = append(v.keys, aead)
	}
	if err := v.renew(ctx, forget); err != nil || len(v.keys) == 0 {
		return nil, err
	}
	return v, nil
}

func sealer(key string) (cipher.AEAD, error) {
	derived, err := hkdf.Key(sha256.New, []byte(key), nil, "triage vault", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// renew looks at every secret, and seals with the first key what another one opens.
func (v *Vault) renew(ctx context.Context, forget bool) error {
	names, err := v.names(ctx, ">")
	if err != nil {
		return err
	}
	unread := 0
	for _, name := range names {
		entry, err := v.bucket.Get(ctx, name)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read the stored secrets: %w", err)
		}
		plain, by, ok := v.open(name, entry.Value())
		switch {
		case ok && by > 0:
			_, err = v.bucket.Update(ctx, name, v.seal(name, plain), entry.Revision())
		case !ok && forget:
			err = v.bucket.Purge(ctx, name)
		case !ok:
			unread++
		}
		if err != nil && !errors.Is(err, jetstream.ErrKeyExists) { // else another replica was first
			return fmt.Errorf("seal the stored secrets anew: %w", err)
		}
	}
	if unread > 0 {
		return fmt.Errorf("%w: %d of %d secrets cannot be opened", ErrWrongKey, unread, len(names))
	}
	return nil
}

// names lists the secrets whose names fit a NATS filter.
func (v *Vault) names(ctx context.Context, filter string) (names []string, err error) {
	keys, err := v.bucket.ListKeysFiltered(ctx, filter)
	if err != nil {
		return nil, fmt.Errorf("list the stored secrets: %w", err)
	}
	defer func() { _ = keys.Stop() }() // it fails when the keys have all come
	for name := range keys.Keys() {
		names = append(names, name)
	}
	return names, nil
}

func (v *Vault) seal(name string, plain []byte) []byte {
	return v.keys[0].Seal(nil, nil, plain, []byte(name))
}

// open tells also which key opens it.
func (v *Vault) open(name string, sealed []byte) (plain []byte, by int, ok bool) {
	for by, key := range v.keys {
		if plain, err := key.Open(nil, nil, sealed, []byte(name)); err == nil {
			return plain, by, true
		}
	}
	return nil, 0, false
}

// Put keeps a secret, in JSON, under a name of a class and what it is of it, as "slack:T1".
func (v *Vault) Put(ctx context.Context, name string, secret any) error {
	plain, err := json.Marshal(secret)
	if err != nil {
		return err
	}
	if err := v.store.Writable(); err != nil {
		return fmt.Errorf("keep a secret: %w", err)
	}
	key := stateKey(name)
	if _, err := v.bucket.Put(ctx, key, v.seal(key, plain)); err != nil {
		return fmt.Errorf("keep a secret: %w", err)
	}
	return nil
}

// Get reads a secret into what into points to and tells whether there is one.
func (v *Vault) Get(ctx context.Context, name string, into any) (bool, error) {
	key := stateKey(name)
	entry, err := v.bucket.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read a secret: %w", err)
	}
	plain, _, ok := v.open(key, entry.Value())
	if !ok {
		return false, ErrWrongKey
	}
	return true, json.Unmarshal(plain, into)
}

// Delete forgets a secret.
func (v *Vault) Delete(ctx context.Context, name string) error {
	if err := v.bucket.Purge(ctx, stateKey(name)); err != nil {
		return fmt.Errorf("delete a secret: %w", err)
	}
	return nil
}

// Count tells how many secrets a class has.
func (v *Vault) Count(ctx context.Context, class string) (int, error) {
	names, err := v.names(ctx, class+".*")
	return len(names), err
}
