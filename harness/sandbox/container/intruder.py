"""A submission that tries what a sandbox must not let it do, and tells how far it came.

``takehome doctor`` loads it as it would a candidate's file. It runs inside the sandbox, knows
nothing of the harness, and stops a little beyond each limit by itself, so that a sandbox
that does not hold costs the machine nothing.
"""

import ctypes
import errno
import os
import resource
import signal
import socket
import time

CHUNK = 1 << 20
FAMILIES = ("INET", "INET6", "NETLINK", "PACKET", "VSOCK", "ALG", "BLUETOOTH", "CAN", "TIPC")
#: System calls by name, with their numbers on x86-64 and AArch64.
REFUSED = {
    "ptrace": (101, 117),
    "prlimit64": (302, 261),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "mount": (165, 40),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "setns": (308, 268),
    "socketpair": (53, 199),
    "ioctl": (16, 29),
    "setpriority": (141, 140),
    "sched_setaffinity": (203, 122),
    "setuid": (105, 146),
    "chroot": (161, 51),
    "init_module": (175, 105),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "swapon": (167, 224),
    "reboot": (169, 142),
    "quotactl": (179, 60),
    "setxattr": (188, 5),
}
FOLDERS = ("/", "/etc", "/opt", "/opt/takehome", "/usr", "/var/tmp", "/dev")


def mounts() -> tuple[str, ...]:
    """Return the places that something is mounted on, each with its options."""
    with open("/proc/self/mountinfo") as file:
        lines = [line.split() for line in file]
    return tuple(sorted(f"{fields[4]} {fields[5]}" for fields in lines))


def environment() -> tuple[str, ...]:
    """Return the names of the environment's variables."""
    return tuple(sorted(os.environ))


def ulimits() -> tuple[str, ...]:
    """Return the soft and hard limits of this process, by name."""
    names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    limits = {name[7:].lower(): resource.getrlimit(getattr(resource, name)) for name in names}
    return tuple(f"{name}={soft}:{hard}" for name, (soft, hard) in sorted(limits.items()))


def control_group() -> str:
    """Return the path of this process in its control group, "/" in a namespace of its own."""
    with open("/proc/self/cgroup") as file:
        return " ".join(sorted({line.strip().split(":", 2)[2] for line in file}))


def system_calls() -> tuple[str, ...]:
    """Return those of `REFUSED` that do not fail with EPERM or ENOSYS, all with bad arguments.

    A filter decides before the kernel looks at the arguments, none of which is valid.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    places = {"x86_64": 0, "aarch64": 1}
    place = places.get(os.uname().machine)
    if place is None:
        return ("(unknown machine)",)
    let_through = []
    for name, numbers in REFUSED.items():
        ctypes.set_errno(0)
        result = libc.syscall(numbers[place], -1, -1, -1, -1, -1, -1)
        if result != -1 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
            let_through.append(name)
    return tuple(let_through)


def swap_limit() -> str:
    """Return how many bytes of memory and swap the control group grants beyond memory alone."""
    group = "/sys/fs/cgroup"
    try:
        with open(f"{group}/memory.swap.max") as file:  # version 2
            return file.read().strip()
    except OSError:
        pass
    try:
        with (
            open(f"{group}/memory/memory.memsw.limit_in_bytes") as both,
            open(f"{group}/memory/memory.limit_in_bytes") as memory,
        ):
            return str(int(both.read()) - int(memory.read()))
    except OSError:
        return "(not said)"


def ipc_namespace() -> str:
    """Return the identity of the namespace of shared memory and queues."""
    return os.readlink("/proc/self/ns/ipc")


def oom_score() -> int:
    """Return by how much the kernel prefers this process when memory runs out."""
    with open("/proc/self/oom_score_adj") as file:
        return int(file.read())


def processors() -> float:
    """Return how many processors the control group grants, 0 when it does not say."""
    group = "/sys/fs/cgroup"
    try:
        with open(f"{group}/cpu.max") as file:  # version 2
            quota, period = file.read().split()
    except OSError:
        try:
            with (
                open(f"{group}/cpu/cpu.cfs_quota_us") as quotas,
                open(f"{group}/cpu/cpu.cfs_period_us") as periods,
            ):
                quota, period = quotas.read(), periods.read()
        except OSError:
            return 0.0
    unlimited = quota == "max" or int(quota) < 0
    return float("inf") if unlimited else int(quota) / int(period)


def identity() -> tuple[int, int]:
    """Return user and group id."""
    return os.getuid(), os.getgid()


def status(field: str) -> str:
    """Return a field of /proc/self/status."""
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(field + ":"):
                return line.split(":", 1)[1].strip()
    return "(absent)"


def capabilities() -> tuple[str, str, str]:
    """Return the effective, permitted and bounding sets, in hexadecimal."""
    return status("CapEff"), status("CapPrm"), status("CapBnd")


def fork_until_refused(most: int) -> int:
    """Return how many processes can be started beside this one."""
    children: list[int] = []
    try:
        while len(children) < most:
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    except OSError:
        pass
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return len(children)


def take_memory(size: int) -> int:
    """Use ``size`` bytes of memory and return their number."""
    return len(b"\1" * size)


def fill(folder: str, most: int) -> int:
    """Return how many bytes can be written to files in ``folder``."""
    written, number = 0, 0
    try:
        while written < most:
            with open(f"{folder}/{number}", "wb", buffering=0) as file:
                written += sum(file.write(bytes(CHUNK)) for _ in range(8))
            number += 1
    except OSError:
        pass
    return sum(entry.stat().st_size for entry in os.scandir(folder))


def fill_with_names(folder: str, most: int) -> int:
    """Return how many empty files ``folder`` takes."""
    try:
        for number in range(most):
            os.close(os.open(f"{folder}/{number}", os.O_CREAT | os.O_WRONLY))
    except OSError:
        return number
    return most


def root_flags() -> int:
    """Return the mount flags of the root file system."""
    return os.statvfs("/").f_flag


def writable_folders() -> str:
    """Return the names of the folders outside the scratch space that take a file."""
    found = []
    for folder in FOLDERS:
        try:
            os.close(os.open(f"{folder}/intruder", os.O_CREAT | os.O_WRONLY))
            found.append(folder)
        except OSError:
            pass
    return " ".join(found)


def interfaces() -> str:
    """Return the names of the network interfaces."""
    with open("/proc/net/dev") as file:
        return " ".join(sorted(line.split(":")[0].strip() for line in file if ":" in line))


def socket_families() -> str:
    """Return the families, other than Unix, of which a socket can be made."""
    found = []
    for family in FAMILIES:
        number = getattr(socket, f"AF_{family}", -1)
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            try:
                socket.socket(number, kind).close()
            except OSError:
                continue
            found.append(family)
            break
    return " ".join(found)


def leave_a_spinner() -> int:
    """Leave a process that ignores every signal it can and never rests."""
    child = os.fork()
    if child == 0:
        os.setsid()
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        while True:
            pass
    time.sleep(0.1)  # until it ignores them
    return child


def flood() -> None:
    """Print without end."""
    line = b"x" * 65535 + b"\n"
    while True:
        os.write(1, line)
