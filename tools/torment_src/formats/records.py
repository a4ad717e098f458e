"""Records of runs, as a store holds them."""

import hashlib
import json

STORE = "runs"


def record(rate: float, label: str, day: int, /, **other) -> dict:
    """Returns a whole record with the id of its content. `other` replaces or adds members at the top."""
    start = f"2026-01-{day:02}T02:30:00.000Z"
    return sealed({
        "schema": "bench.record/2", "status": "ok", "reason": "torment", "label": label,
        "time": {"start_utc": start, "end_utc": start},
        "workload": {"model": "lenet", "mode": "train", "batch_per_device": 32, "dtype": "f32"},
        "source": {"git_rev": f"{day:07x}", "dirty": False},
        "host": {"hostname": "node", "container": "none", "kernel": "6.1.0-28"}, "cpu": {"model": "CPU"},
        "metrics": [{"name": "images_per_sec", "value": rate, "unit": "images/s", "better": "higher",
                     "kind": "noisy"}]} | other)


def sealed(content: dict) -> dict:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return content | {"record_id": hashlib.sha256(text.encode()).hexdigest()[:16]}


def path_of(whole: dict) -> str:
    """Returns the record's path in a store that is a folder."""
    return f"{STORE}/2026/01/{whole['record_id']}.json"


def bytes_of(whole: dict) -> bytes:
    return json.dumps(whole, ensure_ascii=False).encode()


def some() -> list[dict]:
    """Returns three runs labelled a and three labelled b."""
    return [record(100.0 + day, "a" if day <= 3 else "b", day) for day in range(1, 7)]
