#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debian's rocminfo, rocm-smi and amd-smi show the virtual GPUs with what the model has of them."""
from support import *

TWO = {"VGPU_ARCH": "gfx900,gfx90a", "VGPU_VRAM_MB": 8192}
# id, bus, MHz of the GPU and of its memory, compute units, name
GPUS = [("0x6860", "0000:01:00.0", 1500, 945, 64, "gfx900"), ("0x740f", "0000:02:00.0", 1700, 1600, 104, "gfx90a")]


def tool(name, *args):
    path = shutil.which(name)
    if not path:
        fail(f"there is no {name}: tools/userland.sh experimental setup")
    return run(path, *args, gpus=2, env=TWO).out


def as_json(name, *args):
    """amd-smi prints a line about other devices first."""
    out = tool(name, *args, "--json")
    return json.loads(out[re.search(r"^[\[{]", out, re.M).start():])


@case
def rocminfo_shows_the_gpus():
    out = tool("rocminfo")
    equal("names", re.findall(r"^  Name: +(gfx\w+)", out, re.M), [g[5] for g in GPUS])
    equal("compute units", [int(n) for n in re.findall(r"^  Compute Unit: +(\d+)", out, re.M)][1:], [g[4] for g in GPUS])
    equal("kernel driver", "ROCk module is loaded" in out, True)
    equal("agents of rocm_agent_enumerator", tool("rocm_agent_enumerator").split(), [g[5] for g in GPUS])


@case
def rocm_smi_shows_the_gpus():
    cards = as_json("rocm-smi", "--showid", "--showbus", "--showtemp", "--showclocks", "--showmeminfo", "vram")
    for n, (device, bus, gpu_mhz, memory_mhz, _, _) in enumerate(GPUS):
        card = cards[f"card{n}"]
        want = {"Device ID": device, "PCI Bus": bus, "Temperature (Sensor edge) (C)": "25.0", "sclk clock speed:": f"({gpu_mhz}Mhz)",
                "mclk clock speed:": f"({memory_mhz}Mhz)", "VRAM Total Memory (B)": str(8192 << 20), "VRAM Total Used Memory (B)": "0"}
        equal(f"card {n}", {k: card.get(k) for k in want}, want)
    contains("the short table", tool("rocm-smi"), "25.0°C")


@case
def amd_smi_shows_the_gpus():
    equal("buses", [g["bdf"] for g in as_json("amd-smi", "list")], [g[1] for g in GPUS])
    static, metric = as_json("amd-smi", "static")["gpu_data"], as_json("amd-smi", "metric")["gpu_data"]
    for n, (device, bus, gpu_mhz, memory_mhz, units, name) in enumerate(GPUS):
        s, m = static[n], metric[n]
        equal(f"GPU {n}", (s["asic"]["device_id"], s["bus"]["bdf"], s["asic"]["num_compute_units"], s["asic"]["target_graphics_version"], s["driver"]["name"]),
              (device, bus, units, name, "amdgpu"))
        equal(f"clocks of {n}", [s["clock"][c]["frequency_levels"]["Level 0"]["value"] for c in ("sys", "mem")], [str(gpu_mhz), str(memory_mhz)])
        equal(f"temperature of {n}", m["temperature"]["edge"], {"value": 25, "unit": "C"})
        equal(f"memory of {n}", [m["mem_usage"][k]["value"] for k in ("total_vram", "used_vram", "free_vram")], [8192, 0, 8192])


main()
