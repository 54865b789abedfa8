# SPDX-License-Identifier: MIT
"""hiprtc.py - HIP's compiler at run time, which may know more GPUs than hipcc of this machine"""
import ctypes
import glob

OPTIONS = ("-O2", "-ffp-contract=off", "-w")


def compile_file(source, arch, code, *more):
    """Writes the code object of a source file for an architecture to the file `code`; more: further options."""
    lib = ctypes.CDLL(max(glob.glob("/usr/lib/x86_64-linux-gnu/libhiprtc.so.*")))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    with open(source, "rb") as f:
        text = f.read()
    if lib.hiprtcCreateProgram(ctypes.byref(program), text, source.encode(), 0, None, None):
        raise RuntimeError(f"{source}: hiprtcCreateProgram()")
    options = [option.encode() for option in (f"--offload-arch={arch}", *OPTIONS, *more)]
    status = lib.hiprtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    if status:
        lib.hiprtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        lib.hiprtcGetProgramLog(program, log)
        raise RuntimeError(f"{source}: hiprtcCompileProgram(): {status}\n{log.value.decode()}")
    lib.hiprtcGetCodeSize(program, ctypes.byref(size))
    made = ctypes.create_string_buffer(size.value)
    lib.hiprtcGetCode(program, made)
    with open(code, "wb") as f:
        f.write(made.raw)
