package flight

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// unpickle reads the part of Python's pickle format that holds plain data: numbers, texts, lists, tuples and dicts, as PyTorch's
// own writer (torch/csrc/jit/serialization/pickler.cpp) and Python's protocol 4 write them. What could call something is refused.
// Nothing is longer than the file, whatever lengths it claims.
func unpickle(data []byte) (any, error) {
	m := machine{data: data, memo: make(map[int]any)}
	for {
		op, err := m.take(1)
		if err != nil {
			return nil, err
		}
		if op[0] == '.' {
			return m.pop()
		}
		step, ok := steps[op[0]]
		if !ok {
			return nil, fmt.Errorf("operation %q at byte %d is no plain data", op[0], m.at-1)
		}
		if err := step(&m); err != nil {
			return nil, fmt.Errorf("at byte %d: %w", m.at, err)
		}
	}
}

// machine is the stack machine of a pickle.
type machine struct {
	data  []byte
	at    int
	stack []any
	marks []int // where on the stack the open collections begin
	memo  map[int]any
}

// list is a list or a tuple; it is a pointer because later operations add to it after it was remembered.
type list struct{ items []any }

// dict is a Python dict; keys that are no texts are dropped.
type dict map[string]any

var (
	errShort = errors.New("the file ends too early")
	errStack = errors.New("the stack does not hold what is asked for")
)

// take takes the next n bytes of the file.
func (m *machine) take(n int) ([]byte, error) {
	if n < 0 || n > len(m.data)-m.at {
		return nil, errShort
	}
	m.at += n
	return m.data[m.at-n : m.at], nil
}

// number takes an unsigned little-endian number of n bytes.
func (m *machine) number(n int) (int, error) {
	raw, err := m.take(n)
	if err != nil {
		return 0, err
	}
	var padded [8]byte
	copy(padded[:], raw)
	if padded[7]&0x80 != 0 {
		return 0, errShort
	}
	return int(binary.LittleEndian.Uint64(padded[:])), nil
}

// push puts a value on the stack. It has an error so that a step can end with it.
func (m *machine) push(v any) error {
	m.stack = append(m.stack, v)
	return nil
}

func (m *machine) pop() (any, error) {
	if len(m.stack) == 0 {
		return nil, errStack
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v, nil
}

// popMark takes everything that was pushed since the last mark.
func (m *machine) popMark() ([]any, error) {
	if len(m.marks) == 0 || m.marks[len(m.marks)-1] > len(m.stack) {
		return nil, errStack
	}
	from := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	items := append([]any(nil), m.stack[from:]...)
	m.stack = m.stack[:from]
	return items, nil
}

// tuple makes one of the last n values.
func (m *machine) tuple(n int) error {
	if len(m.stack) < n {
		return errStack
	}
	items := append([]any(nil), m.stack[len(m.stack)-n:]...)
	m.stack = m.stack[:len(m.stack)-n]
	return m.push(&list{items})
}

// extend adds to the list on top of the stack.
func (m *machine) extend(items []any) error {
	if len(m.stack) == 0 {
		return errStack
	}
	l, ok := m.stack[len(m.stack)-1].(*list)
	if !ok {
		return errStack
	}
	l.items = append(l.items, items...)
	return nil
}

// set adds keys and values, by turns, to the dict on top of the stack.
func (m *machine) set(pairs []any) error {
	if len(m.stack) == 0 || len(pairs)%2 != 0 {
		return errStack
	}
	d, ok := m.stack[len(m.stack)-1].(dict)
	if !ok {
		return errStack
	}
	for i := 0; i < len(pairs); i += 2 {
		if key, ok := pairs[i].(string); ok {
			d[key] = pairs[i+1]
		}
	}
	return nil
}

// text pushes a text behind its length, a number of so many bytes.
func (m *machine) text(lengthBytes int) error {
	n, err := m.number(lengthBytes)
	if err != nil {
		return err
	}
	raw, err := m.take(n)
	if err != nil {
		return err
	}
	return m.push(string(raw))
}

// whole pushes an unsigned number of n bytes.
func (m *machine) whole(n int) error {
	v, err := m.number(n)
	if err != nil {
		return err
	}
	return m.push(v)
}

// long takes a signed number of any length; one that does not fit into 64 bits is no plain data of ours.
func (m *machine) long() error {
	n, err := m.number(1)
	if err != nil {
		return err
	}
	raw, err := m.take(n)
	if err != nil {
		return err
	}
	if n > 8 {
		return m.push(nil)
	}
	var padded [8]byte
	if n > 0 && raw[n-1]&0x80 != 0 {
		padded = [8]byte{255, 255, 255, 255, 255, 255, 255, 255}
	}
	copy(padded[:], raw)
	return m.push(int(int64(binary.LittleEndian.Uint64(padded[:]))))
}

// remember puts what is on top of the stack into the memo.
func (m *machine) remember(key int) error {
	if len(m.stack) == 0 {
		return errStack
	}
	m.memo[key] = m.stack[len(m.stack)-1]
	return nil
}

// recall pushes a value of the memo, whose key is a number of n bytes.
func (m *machine) recall(n int) error {
	key, err := m.number(n)
	if err != nil {
		return err
	}
	v, ok := m.memo[key]
	if !ok {
		return errStack
	}
	return m.push(v)
}

// steps are the operations, by their code (Lib/pickletools.py in Python's source describes them).
var steps = map[byte]func(*machine) error{
	0x80: func(m *machine) error { _, err := m.take(1); return err }, // PROTO
	0x95: func(m *machine) error { _, err := m.take(8); return err }, // FRAME
	'(':  func(m *machine) error { m.marks = append(m.marks, len(m.stack)); return nil },
	'}':  func(m *machine) error { return m.push(dict{}) },
	']':  func(m *machine) error { return m.push(&list{}) },
	')':  func(m *machine) error { return m.push(&list{}) },
	'N':  func(m *machine) error { return m.push(nil) },
	0x88: func(m *machine) error { return m.push(true) },
	0x89: func(m *machine) error { return m.push(false) },
	'K':  func(m *machine) error { return m.whole(1) },
	'M':  func(m *machine) error { return m.whole(2) },
	'J': func(m *machine) error {
		v, err := m.number(4)
		if err != nil {
			return err
		}
		return m.push(int(int32(uint32(v))))
	},
	0x8a: (*machine).long,
	'G': func(m *machine) error {
		raw, err := m.take(8)
		if err != nil {
			return err
		}
		return m.push(math.Float64frombits(binary.BigEndian.Uint64(raw)))
	},
	'X':  func(m *machine) error { return m.text(4) },
	0x8c: func(m *machine) error { return m.text(1) },
	0x8d: func(m *machine) error { return m.text(8) },
	0x85: func(m *machine) error { return m.tuple(1) },
	0x86: func(m *machine) error { return m.tuple(2) },
	0x87: func(m *machine) error { return m.tuple(3) },
	't': func(m *machine) error {
		items, err := m.popMark()
		if err != nil {
			return err
		}
		return m.push(&list{items})
	},
	'a': func(m *machine) error {
		v, err := m.pop()
		if err != nil {
			return err
		}
		return m.extend([]any{v})
	},
	'e': func(m *machine) error {
		items, err := m.popMark()
		if err != nil {
			return err
		}
		return m.extend(items)
	},
	's': func(m *machine) error {
		value, err := m.pop()
		if err != nil {
			return err
		}
		key, err := m.pop()
		if err != nil {
			return err
		}
		return m.set([]any{key, value})
	},
	'u': func(m *machine) error {
		pairs, err := m.popMark()
		if err != nil {
			return err
		}
		return m.set(pairs)
	},
	'q': func(m *machine) error {
		key, err := m.number(1)
		if err != nil {
			return err
		}
		return m.remember(key)
	},
	'r': func(m *machine) error {
		key, err := m.number(4)
		if err != nil {
			return err
		}
		return m.remember(key)
	},
	0x94: func(m *machine) error { return m.remember(len(m.memo)) }, // MEMOIZE
	'h':  func(m *machine) error { return m.recall(1) },
	'j':  func(m *machine) error { return m.recall(4) },
}
