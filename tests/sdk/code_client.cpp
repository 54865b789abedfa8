/* SPDX-License-Identifier: MIT */
/* code_client.cpp - disassembles the code objects that it loads, with lines, by cxx/codeobj, as
 * tools for samples of the GPU's program counter do
 *
 * usage: code_client FOLDER
 *
 * Writes each code object to FOLDER/ID.co, and prints for each instruction of a kernel: id, address
 * in the code object, size, text, lines, separated by tabs. Exits with 1 if something was not as it
 * should be.
 */
#include <rocprofiler-sdk/cxx/codeobj/code_printing.hpp>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "../support/expect.h"

namespace disassembly = rocprofiler::sdk::codeobj::disassembly;

static int nr_wrong;
static std::string folder;
static disassembly::CodeobjAddressTranslate *table;
static unsigned nr_kernels;
static unsigned nr_files;

/* Inlined twice, one in the other. */
static __device__ __forceinline__ float inner(float a)
{
	return __builtin_sqrtf(a) * 3.0f;
}

static __device__ __forceinline__ float outer(float a)
{
	return inner(a + 1.0f) - 2.0f;
}

__global__ void inlines(float *a)
{
	a[threadIdx.x] = outer(a[threadIdx.x]);
}

__global__ void loops(int *a, int n)
{
	for (int i = 0; i < n; i++)
		a[i * 64 + threadIdx.x] ^= i;
}

static void on_object(const rocprofiler_callback_tracing_code_object_load_data_t &data)
{
	const auto *const bytes = reinterpret_cast<const char *>(data.memory_base);

	table->addDecoder(bytes, data.memory_size, data.code_object_id,
			  static_cast<uint64_t>(data.load_delta), data.load_size);
	std::ofstream(folder + "/" + std::to_string(data.code_object_id) + ".co", std::ios::binary)
		.write(bytes, static_cast<std::streamsize>(data.memory_size));
	if (strncmp(data.uri, "file://", 7) != 0)
		return;
	/* the part of the program's file is the same code object */
	const disassembly::CodeObjectBinary file(data.uri);

	nr_files++;
	IS(file.buffer.size() == data.memory_size &&
		   memcmp(file.buffer.data(), bytes, data.memory_size) == 0,
	   true);
}

/* The whole kernel, through its address where it is loaded and through its offset. */
static void
on_kernel(const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t &data)
{
	const std::string name(data.kernel_name, strlen(data.kernel_name) - strlen(".kd"));
	const auto symbols = table->getSymbolMap(data.code_object_id);
	const disassembly::SymbolInfo *kernel = nullptr;

	nr_kernels++;
	for (const auto &[vaddr, symbol] : symbols)
		if (symbol.name == name)
			kernel = &symbol;
	if (!kernel) {
		printf("%s: not among the code object's functions\n", name.c_str());
		nr_wrong++;
		return;
	}
	for (uint64_t offset = 0; offset < kernel->mem_size;) {
		const auto read = table->get(data.code_object_id, kernel->vaddr + offset);

		if (!read) {
			printf("%s+%lu: nothing there\n", name.c_str(), (unsigned long)offset);
			nr_wrong++;
			return;
		}
		const auto same = table->get(read->ld_addr);

		IS(same && same->inst == read->inst && same->codeobj_id == data.code_object_id,
		   true);
		IS(read->vaddr == kernel->vaddr + offset && read->faddr == kernel->faddr + offset,
		   true);
		IS(offset || strcmp(table->getSymbolName(read->ld_addr), name.c_str()) == 0, true);
		printf("%lu\t%lx\t%zu\t%s\t%s\n", (unsigned long)data.code_object_id,
		       (unsigned long)read->vaddr, read->size, read->inst.c_str(),
		       read->comment.c_str());
		offset += read->size;
	}
}

static void on_code(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *, void *)
{
	if (record.phase != ROCPROFILER_CALLBACK_PHASE_LOAD)
		return;
	if (record.operation == ROCPROFILER_CODE_OBJECT_LOAD)
		on_object(*static_cast<rocprofiler_callback_tracing_code_object_load_data_t *>(
			record.payload));
	else if (record.operation == ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER)
		on_kernel(*static_cast<
			  rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *>(
			record.payload));
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	rocprofiler_context_id_t context{};

	IS(rocprofiler_create_context(&context) == ROCPROFILER_STATUS_SUCCESS, true);
	IS(rocprofiler_configure_callback_tracing_service(context,
							  ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
							  nullptr, 0, on_code,
							  nullptr) == ROCPROFILER_STATUS_SUCCESS,
	   true);
	IS(rocprofiler_start_context(context) == ROCPROFILER_STATUS_SUCCESS, true);
	return 0;
}

extern "C" rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t, const char *, uint32_t, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result;

	id->name = "code_client";
	result.size = sizeof(result);
	result.initialize = initialize;
	return &result;
}

template <typename Call> static bool is_refused(Call &&call)
{
	try {
		call();
	} catch (const std::runtime_error &e) {
		return e.what()[0] != '\0';
	}
	return false;
}

static void check_refusals()
{
	const std::string path = folder + "/text";
	const std::vector<char> noise(4096, 'x');

	std::ofstream(path) << "0123456789";
	IS(disassembly::CodeObjectBinary(path).buffer.size() == 10, true);
	IS(disassembly::CodeObjectBinary("FILE://" + path + "#offset=0x2&size=3").buffer ==
		   (std::vector<char>{ '2', '3', '4' }),
	   true);
	IS(disassembly::CodeObjectBinary("file://" + folder + "/te%78t?offset=8").buffer.size() ==
		   2,
	   true);
	IS(is_refused(
		   [&] { disassembly::CodeObjectBinary("file://" + path + "#offset=2&size=9"); }),
	   true);
	IS(is_refused([&] { disassembly::CodeObjectBinary("file://" + path + "#offset=11"); }),
	   true);
	IS(is_refused([&] { disassembly::CodeObjectBinary("file://" + path + "#offset=here"); }),
	   true);
	IS(is_refused([&] { disassembly::CodeObjectBinary("memory://1#offset=1&size=1"); }), true);
	IS(is_refused([&] { disassembly::CodeObjectBinary(path + ".not"); }), true);
	IS(is_refused([&] { table->addDecoder((path + ".not").c_str(), 99, 0, 0); }), true);
	IS(is_refused([&] { table->addDecoder(noise.data(), noise.size(), 99, 0, 0); }), true);
	IS(is_refused([&] { table->addDecoder(noise.data(), 0, 99, 0, 0); }), true);
	IS(!table->get(99, 0) && !table->getSymbolName(99, 0) && table->getSymbolMap(99).empty(),
	   true);
	IS(!table->get(1, uint64_t{ 1 } << 40) && !table->getSymbolName(1), true);
	IS(!table->removeDecoder(99), true);
	try {
		table->get(1);
		printf("a code object has address 1\n");
		nr_wrong++;
	} catch (const std::out_of_range &) {
	}
}

int main(int argc, char **argv)
{
	int *values = nullptr;

	folder = argc > 1 ? argv[1] : ".";
	table = new disassembly::CodeobjAddressTranslate;
	IS(hipMalloc(reinterpret_cast<void **>(&values), 4096) == hipSuccess, true);
	inlines<<<1, 64>>>(reinterpret_cast<float *>(values));
	loops<<<1, 64>>>(values, 3);
	IS(hipDeviceSynchronize() == hipSuccess, true);
	IS(nr_kernels >= 2, true);
	IS(!table->getSymbolMap().empty(), true);
	check_refusals();
	for (const auto &[vaddr, symbol] : table->getSymbolMap()) {
		const auto read = table->get(vaddr);

		IS(read && table->removeDecoder(read->codeobj_id), true);
		IS(table->getSymbolMap(read->codeobj_id).empty(), true);
		break;
	}
	fprintf(stderr, "%u kernels, %u code objects of files, %d wrong\n", nr_kernels, nr_files,
		nr_wrong);
	return nr_wrong != 0;
}
