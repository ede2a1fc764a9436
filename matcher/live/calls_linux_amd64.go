package live

import "golang.org/x/sys/unix"

// ownCalls are those that only this processor has.
var ownCalls = map[int]systemCall{
	unix.SYS_POLL:       {"poll", false},
	unix.SYS_SELECT:     {"select", false},
	unix.SYS_EPOLL_WAIT: {"epoll_wait", false},
	unix.SYS_OPEN:       {"open", false},
}
