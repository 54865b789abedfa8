/* SPDX-License-Identifier: MIT */
/* fewfiles.cpp - uses the GPU while few more files can be opened
 *
 * fewfiles before|after N: opens files until N more are possible, before or after the first use of
 * HIP; prints the results of its kernels, and how many can be opened meanwhile
 */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

__global__ void add(int *p)
{
	*p += 1;
}

static std::vector<int> open_all()
{
	std::vector<int> files;

	for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0;)
		files.push_back(fd);
	return files;
}

static void leave(size_t n)
{
	std::vector<int> files = open_all();

	for (size_t i = 0; i < n && i < files.size(); i++)
		close(files[files.size() - 1 - i]);
}

static size_t count()
{
	std::vector<int> files = open_all();

	for (int fd : files)
		close(fd);
	return files.size();
}

static int work(int n)
{
	int *p, value = 0;

	if (hipMalloc(&p, sizeof(*p)) || hipMemcpy(p, &value, sizeof(value), hipMemcpyHostToDevice))
		return -1;
	for (int i = 0; i < n; i++)
		add<<<1, 1>>>(p);
	if (hipMemcpy(&value, p, sizeof(value), hipMemcpyDeviceToHost) || hipFree(p))
		return -1;
	return value;
}

int main(int argc, char **argv)
{
	bool before = argc > 2 && !strcmp(argv[1], "before");
	size_t n = argc > 2 ? strtoul(argv[2], nullptr, 10) : 0;
	struct rlimit limit = { 64, 64 };

	setrlimit(RLIMIT_NOFILE, &limit);
	if (before)
		leave(n);
	int first = work(3);
	std::printf("result %d\n", first);
	if (!before)
		leave(n);
	std::printf("result %d\n", work(2000));
	std::printf("%zu files\n", count());
	return first == 3 ? 6 : 1;
}
