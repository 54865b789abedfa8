/* SPDX-License-Identifier: MIT */
/* detach.c - the end of a trace goes on where a launcher's SIGKILL does not reach it */
#include "cli/trace/detach.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/exit_status.h"
#include "cli/ui.h"

void detach_from_launcher(void)
{
	bool passed_on = ui_stopped_by() != 0;
	int status;
	pid_t pid;

	fflush(NULL);		  /* else both processes would write what is buffered */
	signal(SIGCHLD, SIG_DFL); /* where it is ignored wait(2) gives no status */
	pid = fork();
	if (pid < 0)
		return;
	if (pid == 0) {
		setsid();
		return;
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			/* can't be: it is a child that nothing else waits for */
			_exit(STATUS_TRACE);
		if (!passed_on && ui_stopped_by()) {
			kill(pid, ui_stopped_by());
			passed_on = true;
		}
	}
	_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}
