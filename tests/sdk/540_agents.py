#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librocprofiler-sdk's agents: from the driver's files, in a mount namespace with some and no virtual GPU; from HSA's runtime without."""
from support import *

ABIS = (0, 1)
# what the driver of a machine with two MI210s says: one processor, two GPUs; the numbers differ to be distinguishable
CPU = {"cpu_cores_count": 32, "mem_banks_count": 1, "caches_count": 1, "io_links_count": 2, "p2p_links_count": 0,
       "cpu_core_id_base": 0, "capability": 0, "max_engine_clk_ccompute": 3675}
GPU = {
    "cpu_cores_count": 0, "simd_count": 416, "mem_banks_count": 1, "caches_count": 2, "io_links_count": 1, "p2p_links_count": 0,
    "cpu_core_id_base": 0, "simd_id_base": 2147487744, "max_waves_per_simd": 8, "lds_size_in_kb": 64, "gds_size_in_kb": 7,
    "num_gws": 63, "wave_front_size": 64, "array_count": 8, "simd_arrays_per_engine": 2, "cu_per_simd_array": 14, "simd_per_cu": 4,
    "max_slots_scratch_cu": 32, "gfx_target_version": 90010, "vendor_id": 4098, "device_id": 29711, "location_id": 17152,
    "domain": 1, "drm_render_minor": 128, "hive_id": 12345678901234567890, "num_sdma_engines": 5, "num_sdma_xgmi_engines": 3,
    "num_sdma_queues_per_engine": 8, "num_cp_queues": 24, "max_engine_clk_fcompute": 1700, "local_mem_size": 0,
    "fw_version": 1024 + 71, "capability": 742924928, "sdma_fw_version": 2048 + 8, "unique_id": 0x1234567890abcdef,
    "num_xcc": 1, "max_engine_clk_ccompute": 3675,
}
BANK = {"heap_type": 1, "size_in_bytes": 68702699520, "flags": 0, "width": 4096, "mem_clk_max": 1600}
CACHE = {"processor_id_low": 2147487744, "level": 1, "size": 16, "cache_line_size": 64, "cache_lines_per_tag": 1, "association": 3,
         "latency": 2, "type": 9, "sibling_map": 1}
LINK = {"type": 11, "version_major": 2, "version_minor": 0, "node_from": 1, "node_to": 0, "weight": 20, "min_latency": 1,
        "max_latency": 5, "min_bandwidth": 4, "max_bandwidth": 6, "recommended_transfer_size": 7, "flags": 1}
# of `GPU`, by what they are computed from
DERIVED = {"cu_count": 104, "num_shader_banks": 4, "cu_per_engine": 26, "max_waves_per_cu": 32, "fw_version": 71, "sdma_fw_version": 8,
           "local_mem_size": 68702699520, "family_id": 141, "workgroup_max_size": 1024}
# of a grid, as HSA's runtime of each ABI's time has them
LIMITS = {0: (2**32 - 1, 2**32 - 1), 1: (2**31 - 1, 2**16 - 1)}
NOT_SHOWN = ("mem_banks_count", "caches_count", "io_links_count", "p2p_links_count", "unique_id")


def write(folder, properties, **files):
    os.makedirs(folder)
    files["properties"] = "".join(f"{n} {v}\n" for n, v in properties.items())
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)


def write_topology(root):
    nodes = os.path.join(root, "kfd", "kfd", "topology", "nodes")
    write(f"{nodes}/0", CPU, gpu_id="0\n", name="\n")
    write(f"{nodes}/0/caches/0", {**CACHE, "level": 3})
    write(f"{nodes}/0/mem_banks/0", {**BANK, "heap_type": 0})
    for i in (0, 1):
        write(f"{nodes}/0/io_links/{i}", {**LINK, "node_from": 0, "node_to": i + 1})
    # libdrm's list has names by device and revision
    write(f"{root}/drm/renderD128/device", {}, revision="0x02\n")
    # the process may not use node 1
    write(f"{nodes}/1", {})
    for i in (2, 3):
        write(f"{nodes}/{i}", {**GPU, "location_id": 17152 + i, "unique_id": GPU["unique_id"] + i}, gpu_id=f"{40000 + i}\n",
              name="aldebaran\n")
        write(f"{nodes}/{i}/mem_banks/0", BANK)
        write(f"{nodes}/{i}/caches/0", CACHE)
        write(f"{nodes}/{i}/caches/1", {**CACHE, "level": 2, "size": 8192})
        write(f"{nodes}/{i}/io_links/0", {**LINK, "node_from": i})


def parse(r):
    """[{field: text}], with a list of the lines of banks, caches and links."""
    agents = []
    for line in r.out.splitlines():
        word, _, rest = line.partition(" ")
        if word == "agent":
            agents.append({"bank": [], "cache": [], "link": []})
        elif word in ("bank", "cache", "link"):
            agents[-1][word].append([int(n) for n in rest.split()])
        elif agents:
            agents[-1][word] = rest
    return agents


def with_topology(abi, **env):
    """Agents of a process whose /sys/class is ours."""
    root = os.path.join(work_dir(), f"class{abi}{len(env)}")
    shutil.rmtree(root, ignore_errors=True)
    write_topology(root)
    unshare = shutil.which("unshare") or skip("unshare is not installed")
    probe = subprocess.run([unshare, "-Urm", "mount", "--bind", root, "/sys/class"], capture_output=True, check=False)
    if probe.returncode:
        skip(f"mount namespaces are not allowed: {probe.stderr.decode().strip()}")
    r = run(unshare, "-Urm", "sh", "-c", 'mount --bind "$0" /sys/class && exec "$1"', root,
            os.path.join(BUILD, "tests", f"sdk_agents_{abi}"), env={**env, "LD_PRELOAD": None})
    contains("stdout", r.out, "\n0 wrong\n")
    return parse(r)


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return next(l.split(": ", 1)[1].strip() for l in f if l.startswith("model name"))


def marketing_name(device, revision):
    path = "/usr/share/libdrm/amdgpu.ids"
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as f:
        rows = [l.split(",\t", 2) for l in f]
    return next((r[2].strip() for r in rows if len(r) == 3 and r[0].isalnum() and [int(r[0], 16), int(r[1], 16)] == [device, revision]), "")


@case
def every_field_is_the_drivers():
    for abi in ABIS:
        cpu, *gpus = with_topology(abi)
        equal("type", cpu["type"], "CPU")
        equal("names", [cpu[n] for n in ("name", "vendor_name", "product_name", "model_name")], [cpu_model(), "CPU", cpu_model(), ""])
        for n, v in {**CPU, "cu_count": 32, "num_xcc": 1, "node_id": 0, "logical_node_id": 0, "logical_node_type_id": 0}.items():
            if n not in NOT_SHOWN:
                equal(f"{n} of the processor", int(cpu[n]), v)
        equal("a processor runs no kernels", [cpu[n] for n in ("workgroup_max_size", "workgroup_max_dim", "grid_max_size", "grid_max_dim")],
              ["0", "0 0 0", "0", "0 0 0"])
        equal("banks", cpu["bank"], [[0, 68702699520, 0, 4096, 1600]])
        equal("links", cpu["link"], [[11, 2, 0, i, 20, 5, 6, 7, 1] for i in (1, 2)])
        equal("GPUs", len(gpus), 2)
        for i, gpu in enumerate(gpus):
            equal("names", [gpu[n] for n in ("type", "name", "vendor_name", "model_name", "product_name")],
                  ["GPU", "gfx90a", "AMD", "aldebaran", marketing_name(GPU["device_id"], 2)])
            own = {"location_id": 17154 + i, "gpu_id": 40002 + i, "node_id": 2 + i, "logical_node_id": 1 + i, "logical_node_type_id": i}
            for n, v in {**GPU, **DERIVED, **own}.items():
                if n not in NOT_SHOWN:
                    equal(f"{n} of GPU {i}", int(gpu[n]), v)
            equal("banks", gpu["bank"], [[1, 68702699520, 0, 4096, 1600]])
            equal("caches", gpu["cache"], [[2147487744, 1, 16, 64, 1, 3, 2, 9], [2147487744, 2, 8192, 64, 1, 3, 2, 9]])
            equal("links", gpu["link"], [[11, 2, 2 + i, 0, 20, 5, 6, 7, 1]])
            x, others = LIMITS[abi]
            equal("limits", [gpu[n] for n in ("workgroup_max_dim", "grid_max_size", "grid_max_dim")],
                  ["1024 1024 1024", str(2**32 - 1), f"{x} {others} {others}"])
            if abi:
                # the number itself, not its digits, which are what HIP has
                equal("uuid", gpu["uuid"], (GPU["unique_id"] + 2 + i).to_bytes(16, "little").hex())
        if abi:
            equal("a processor's", [cpu["uuid"], cpu["visible"]], ["0" * 32, "1 1 1 1"])


@case
def visibility_follows_the_variables_of_the_runtimes():
    def visible(**env):
        return [a["visible"] for a in with_topology(1, **env) if a["type"] == "GPU"]

    all_, hsa, none = "1 1 1 1", "1 0 0 0", "0 0 0 0"
    first, second = (f"GPU-{GPU['unique_id'] + i:X}" for i in (2, 3))
    equal("by default", visible(), [all_, all_])
    equal("ROCR_VISIBLE_DEVICES=1", visible(ROCR_VISIBLE_DEVICES="1"), [none, all_])
    equal("by id", visible(ROCR_VISIBLE_DEVICES=first.lower().replace("gpu", "GPU")), [all_, none])
    equal("by number and id", visible(ROCR_VISIBLE_DEVICES=f"0,{second}"), [all_, all_])
    equal("none of them", visible(ROCR_VISIBLE_DEVICES="2"), [none, none])
    for name in ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"):
        equal(name, visible(**{name: "1"}), [hsa, all_])
        # HIP numbers what HSA shows, in HSA's order
        equal(f"ROCR_VISIBLE_DEVICES and {name}", visible(ROCR_VISIBLE_DEVICES="1", **{name: "0"}), [none, all_])
        equal(f"the other way round, and {name}", visible(ROCR_VISIBLE_DEVICES="1, 0", **{name: "0"}), [hsa, all_])
    equal("HIP's variable is before the others", visible(HIP_VISIBLE_DEVICES=second, CUDA_VISIBLE_DEVICES="0", GPU_DEVICE_ORDINAL="0"), [hsa, all_])
    equal("an empty variable is none", visible(ROCR_VISIBLE_DEVICES="", HIP_VISIBLE_DEVICES="", CUDA_VISIBLE_DEVICES="1"), [hsa, all_])


@case
def machine_without_the_driver_has_no_agents_before_the_runtime_is_up():
    if os.path.exists("/sys/class/kfd"):
        skip("this machine has the driver")
    for abi in ABIS:
        r = run(os.path.join(BUILD, "tests", f"sdk_agents_{abi}"), env={"LD_PRELOAD": None})
        equal("stdout", r.out, "agents 0\n0 wrong\n")


@case
def agents_without_the_drivers_files_are_hips_devices():
    """A container may mask /sys/class; the runtime itself reads /sys/devices."""
    for abi in ABIS:
        path = built(f"sdk_buffer_client_{abi}")
        r = run(path, "agents=1", env={"LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}", "LD_PRELOAD": built("libhideclass.so")})
        contains("stderr: the files that were looked for", r.err, "hidden: /sys/class/kfd/kfd/topology/nodes/0\n")
        contains("stdout", r.out, "wrong 0\n")
        equal("GPUs", [l for l in r.out.splitlines() if l.startswith("gpu ")], ["gpu gfx900"])
        contains("stdout", r.out, "processors 1\n")


main()
