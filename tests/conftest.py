"""Settings shared by all tests."""

import os

# Before anything imports JAX or matplotlib: no accelerator probing, no window.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "agg")

from hypothesis import HealthCheck, settings

# A compiled kernel makes the first example slow; timing is measured in benchmarks/, not here.
settings.register_profile(
    "colonnade", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("colonnade")
