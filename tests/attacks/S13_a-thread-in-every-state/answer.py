import threading

LOCK = threading.Lock()
LOCK.acquire()
for _ in range(20):
    threading.Thread(target=LOCK.acquire).start()


def double(x):
    return x * 2

def total(x):
    return x.sum()
