"""Every figure that the documentation quotes: ``python -m benchmarks``.

Repair is measured with every twelfth sample, in some minutes; all of them, in half an hour:
``python -m benchmarks.repair``.
"""

from benchmarks import host, repair, reports, sandbox
from harness.errors import SandboxUnavailable


def main() -> None:
    """Print the figures, those of containers only where an engine answers."""
    host.main()
    reports.main()
    repair.brief()
    try:
        sandbox.main()
    except SandboxUnavailable as error:
        print(f"no figures of containers: {error}")


if __name__ == "__main__":
    main()
