package live

import "golang.org/x/sys/unix"

// systemCalls are those that programs wait in, as far as all processors have them, by their numbers on this one.
var systemCalls = map[int]systemCall{
	unix.SYS_READ:            {"read", true},
	unix.SYS_WRITE:           {"write", true},
	unix.SYS_PREAD64:         {"pread", true},
	unix.SYS_READV:           {"readv", true},
	unix.SYS_FSYNC:           {"fsync", true},
	unix.SYS_FLOCK:           {"flock", true},
	unix.SYS_IOCTL:           {"ioctl", true},
	unix.SYS_RECVFROM:        {"recv", true},
	unix.SYS_RECVMSG:         {"recvmsg", true},
	unix.SYS_SENDTO:          {"send", true},
	unix.SYS_CONNECT:         {"connect", true},
	unix.SYS_ACCEPT:          {"accept", true},
	unix.SYS_ACCEPT4:         {"accept", true},
	unix.SYS_FUTEX:           {"futex: it waits for a lock or for another thread", false},
	unix.SYS_PPOLL:           {"poll", false},
	unix.SYS_PSELECT6:        {"select", false},
	unix.SYS_EPOLL_PWAIT:     {"epoll_wait", false},
	unix.SYS_WAIT4:           {"wait: for a child", false},
	unix.SYS_WAITID:          {"wait: for a child", false},
	unix.SYS_NANOSLEEP:       {"nanosleep", false},
	unix.SYS_CLOCK_NANOSLEEP: {"nanosleep", false},
	unix.SYS_OPENAT:          {"open", false},
	unix.SYS_SCHED_YIELD:     {"sched_yield", false},
}
