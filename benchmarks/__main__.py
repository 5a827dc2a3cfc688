"""Every figure that the documentation quotes: ``python -m benchmarks``."""

from benchmarks import host, reports, sandbox
from harness.errors import SandboxUnavailable


def main() -> None:
    """Print the figures, those of containers only where an engine answers."""
    host.main()
    reports.main()
    try:
        sandbox.main()
    except SandboxUnavailable as error:
        print(f"no figures of containers: {error}")


if __name__ == "__main__":
    main()
