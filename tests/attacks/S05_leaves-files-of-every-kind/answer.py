import os
import socket


def double(x):
    for folder in ("/tmp", "/dev/shm"):
        place = f"{folder}/{x.size}"
        os.makedirs(f"{place}/a/b", exist_ok=True)
        for make in (lambda: os.symlink("/etc", f"{place}/link"), lambda: os.mkfifo(f"{place}/pipe"),
                     lambda: socket.socket(socket.AF_UNIX).bind(f"{place}/socket"),
                     lambda: os.link(f"{place}/pipe", f"{place}/again")):
            try:
                make()
            except OSError:
                pass
        os.chmod(f"{place}/a", 0)
    return x * 2

def total(x):
    return x.sum()
