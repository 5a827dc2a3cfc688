"""Every figure that the documentation quotes: ``python -m benchmarks``.

Diagnosis is measured with one seed and repair with every twelfth sample, in some minutes;
``python -m benchmarks.diagnosis --seeds 50`` and ``python -m benchmarks.repair`` take an hour.
"""

from benchmarks import batch, diagnosis, host, parent, repair, reports, sandbox
from harness.errors import SandboxUnavailable


def main() -> None:
    """Print the figures, those of containers only where an engine answers."""
    host.main()
    parent.main([])
    reports.main()
    diagnosis.brief()
    repair.brief()
    try:
        sandbox.main()
        batch.main([])
    except SandboxUnavailable as error:
        print(f"no figures of containers: {error}")


if __name__ == "__main__":
    main()
