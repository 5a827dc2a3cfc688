"""The arguments of a container, as the engine understood them. A change here is a decision."""

import json
import os
from pathlib import Path

import pytest

import harness.sandbox.container.hardening
from harness.sandbox.base import Limits
from harness.sandbox.container import reaper
from harness.sandbox.container.hardening import create_arguments

PROFILE = json.loads(
    Path(harness.sandbox.container.hardening.__file__)
    .with_name("seccomp.json")
    .read_text(encoding="ascii")
)


@pytest.fixture(scope="module")
def inspected(engine, image):
    arguments = create_arguments(
        engine.api,
        image,
        Limits(),
        user=64001,
        runtime=None,
        seconds=99.0,
        labels=reaper.labels(99),
    )
    identifier = engine.api.create_container(**arguments)["Id"]
    yield engine.api.inspect_container(identifier)
    engine.api.remove_container(identifier, force=True, v=True)


@pytest.mark.docker
def test_the_host_part_is_this_and_nothing_else(inspected):
    host = {
        key: value
        for key, value in inspected["HostConfig"].items()
        # Empty, or filled in by the engine: its default runtime, paths that it masks.
        if value and key not in ("ConsoleSize", "MaskedPaths", "ReadonlyPaths", "Runtime")
    }
    profile = host["SecurityOpt"].pop().removeprefix("seccomp=")
    assert json.loads(profile) == PROFILE
    assert host == {
        "NetworkMode": "none",
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges:true"],
        "Tmpfs": {
            "/tmp": "rw,noexec,nosuid,nodev,size=67108864,nr_inodes=4096,"
            "mode=0700,uid=64001,gid=64001",
            "/dev/shm": "rw,noexec,nosuid,nodev,size=16777216,nr_inodes=256,"
            "mode=0700,uid=64001,gid=64001",
        },
        "Memory": 512 << 20,
        "MemorySwap": 512 << 20,
        "PidsLimit": 64,
        "NanoCpus": 1_000_000_000,
        "OomScoreAdj": 500,
        "Ulimits": [
            {"Name": "nofile", "Soft": 256, "Hard": 256},
            {"Name": "core", "Soft": 0, "Hard": 0},
            {"Name": "fsize", "Soft": 64 << 20, "Hard": 64 << 20},
            {"Name": "cpu", "Soft": 99, "Hard": 104},
            {"Name": "memlock", "Soft": 65536, "Hard": 65536},
            {"Name": "msgqueue", "Soft": 0, "Hard": 0},
            {"Name": "stack", "Soft": 8 << 20, "Hard": 64 << 20},
        ],
        "LogConfig": {"Type": "none", "Config": {}},
        "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0},
        "ShmSize": 64 << 20,  # the engine's default; /dev/shm is ours
    }


@pytest.mark.docker
def test_the_container_part_runs_the_image_by_id_as_nobody(inspected, image):
    config = inspected["Config"]
    assert inspected["Image"] == image.id == config["Image"]
    assert config["User"] == "64001:64001"
    assert config["WorkingDir"] == "/tmp"
    assert config["Entrypoint"] == [image.python, "-I", "-S", "-B", "/opt/takehome"]
    assert config["Cmd"] == ["99", str(64 << 20)]
    assert config["OpenStdin"] and config["StdinOnce"] and not config["Tty"]
    assert config["Healthcheck"] == {"Test": ["NONE"]}
    assert config["StopSignal"] == "SIGKILL"
    assert sorted(config["Env"]) == [
        "HOME=/tmp",
        "LANG=C.UTF-8",
        "MALLOC_MMAP_THRESHOLD_=524288",
        "MALLOC_TRIM_THRESHOLD_=1048576",
        "MKL_NUM_THREADS=1",
        "NUMPY_MADVISE_HUGEPAGE=0",
        "OMP_NUM_THREADS=1",
        "OPENBLAS_NUM_THREADS=1",
        "PATH=/usr/local/bin:/usr/bin:/bin",
    ]


@pytest.mark.docker
def test_nothing_of_the_host_is_mounted(inspected):
    assert not inspected["Mounts"]
    assert not inspected["HostConfig"]["Binds"]


@pytest.mark.docker
def test_a_container_says_whose_it_is(inspected):
    labels = inspected["Config"]["Labels"]
    assert labels[reaper.PROCESS_LABEL].split(".")[0] == str(os.getpid())
    assert labels[reaper.DEADLINE_LABEL].isdecimal()


def test_the_profile_allows_no_way_to_another_process_or_a_kernel_bug():
    allowed = {
        name
        for rule in PROFILE["syscalls"]
        if rule["action"] == "SCMP_ACT_ALLOW" and "args" not in rule
        for name in rule["names"]
    }
    assert PROFILE["defaultAction"] == "SCMP_ACT_ERRNO"
    assert not allowed & {
        *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_open", "pidfd_getfd"),
        *("io_uring_setup", "bpf", "keyctl", "add_key", "userfaultfd", "perf_event_open"),
        *("mount", "unshare", "setns", "socket", "clone", "clone3", "prlimit64", "setpriority"),
        *("socketpair", "ioctl"),
        *("sched_setaffinity", "sched_setscheduler", "setuid", "setgid", "shmget", "msgget"),
    }


def test_the_profile_lists_no_architecture_that_shares_a_kernel():
    assert all(not entry["subArchitectures"] for entry in PROFILE["archMap"])
