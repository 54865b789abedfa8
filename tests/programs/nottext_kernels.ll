; SPDX-License-Identifier: MIT
; A kernel whose name is no UTF-8, and one whose name is.
target triple = "amdgcn-amd-amdhsa"

define protected amdgpu_kernel void @"caf\E9\01ker\FFl"(ptr addrspace(1) nocapture writeonly %p) {
  store i32 9, ptr addrspace(1) %p, align 4
  ret void
}

define protected amdgpu_kernel void @plain(ptr addrspace(1) nocapture writeonly %p) {
  store i32 7, ptr addrspace(1) %p, align 4
  ret void
}
