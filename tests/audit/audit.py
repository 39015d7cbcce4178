"""Known vulnerabilities of all installed packages, as PyPI's advisories and OSV's tell them.

``pip-audit`` passes a package that its service does not know; here that is no answer. Without any
answer the audit says so in one sentence and passes, since a machine may be apart from the network.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PIP_AUDIT = Path(sys.prefix) / "audit" / "bin" / "pip-audit"
SERVICES = ("pypi", "osv")


def answer(service: str) -> dict[str, Any] | None:
    """What a service says of the installed packages, as pip-audit's JSON; None if nothing."""
    asked = subprocess.run(
        [str(PIP_AUDIT), "--path", sysconfig.get_path("purelib"), "--format", "json",
         "--vulnerability-service", service, "--progress-spinner", "off", "--timeout", "10"],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    try:
        told: dict[str, Any] = json.loads(asked.stdout)
    except ValueError:
        return None
    return told if any(map(is_known, told["dependencies"])) else None


def is_known(package: Mapping[str, Any]) -> bool:
    """Whether the service knew the package."""
    return "skip_reason" not in package


def told(found: Mapping[str, Any]) -> Iterator[str]:
    """One line for each known vulnerability."""
    for package in found["dependencies"]:
        for one in package.get("vulns", ()):
            mended = ", ".join(one["fix_versions"]) or "no version yet"
            yield f"{package['name']} {package['version']}: {one['id']}, mended in {mended}"


def main() -> int:
    """Asks the services, the next where one does not answer; 1 if anything is known."""
    for service in SERVICES:
        if (found := answer(service)) is None:
            continue
        lines = list(told(found))
        unknown = sum(not is_known(package) for package in found["dependencies"])
        print("\n".join(lines) or "No known vulnerabilities.")
        print(f"{len(found['dependencies'])} packages, {unknown} of them unknown to {service}.")
        return 1 if lines else 0
    print("The packages were not audited: neither PyPI's advisories nor OSV's can be reached.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
