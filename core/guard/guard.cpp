// The parent of an engine's process, so that nothing of the engine outlives Rookery:
//
//   rookery --pipe--> rookery-guard PARENT CONTROL REPORT MEMORY program arguments...
//                       +-- program, in a session of its own, with our three standard streams
//
// The guard kills the program and all its descendants when the pipe CONTROL ends (Rookery closed
// it, or is gone by whatever signal), when PARENT is no longer its parent, and when the program
// itself ends. On Linux it is the subreaper: a descendant that forks twice, starts a session and
// drops its environment becomes the guard's child. Elsewhere only the program's process group is
// found.
//
// PARENT   process id of Rookery
// CONTROL  file descriptor; "t" asks the program to terminate, anything else kills
// REPORT   file descriptor; receives the program's process id, also "error N" (errno) if it cannot
//          be started, in either order, and ends
// MEMORY   largest address space of each process in bytes, 0: no limit
//
// The guard ends as the program did: with its exit status, or by its signal.

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace {

constexpr int CANNOT_START = 127;
constexpr int PARENT_GONE = SIGUSR1;
constexpr long PAUSE_NANOSECONDS = 1'000'000;  // between two passes of killing
#if defined(__linux__)
constexpr int POLL_MILLISECONDS = -1;  // signals wake us
#else
constexpr int POLL_MILLISECONDS = 1000;  // look for the parent
#endif

struct Process {
    pid_t id, parent;
};

// All processes of the system; none without /proc.
std::vector<Process> all_processes() {
    std::vector<Process> found;
    DIR* folder = opendir("/proc");
    if (!folder) return found;
    while (const dirent* entry = readdir(folder)) {
        const long id = std::strtol(entry->d_name, nullptr, 10);
        if (id <= 0) continue;
        std::FILE* file = std::fopen(("/proc/" + std::to_string(id) + "/stat").c_str(), "re");
        if (!file) continue;
        char text[512] = {};
        const std::size_t size = std::fread(text, 1, sizeof text - 1, file);
        std::fclose(file);
        // id (name) state parent ...; the name may contain anything
        const char* after = size ? std::strrchr(text, ')') : nullptr;
        int parent = 0;
        if (after && std::sscanf(after + 1, " %*c %d", &parent) == 1)
            found.push_back({pid_t(id), pid_t(parent)});
    }
    closedir(folder);
    return found;
}

std::vector<pid_t> descendants() {
    const std::vector<Process> processes = all_processes();
    std::vector<pid_t> family{getpid()};
    for (std::size_t i = 0; i < family.size(); ++i)
        for (const Process& process : processes)
            if (process.parent == family[i]) family.push_back(process.id);
    return {family.begin() + 1, family.end()};
}

[[noreturn]] void start_program(char** command, int report, rlim_t memory) {
    setsid();
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // should the guard itself be killed
#endif
    for (const int number : {SIGCHLD, PARENT_GONE, SIGINT, SIGTERM, SIGHUP, SIGQUIT})
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (memory) {
        const rlimit limit{memory, memory};
        setrlimit(RLIMIT_AS, &limit);
    }
    execvp(command[0], command);
    dprintf(report, "error %d\n", errno);
    _exit(CANNOT_START);
}

class Guard {
  public:
    Guard(pid_t parent, int control, pid_t program)
        : parent_(parent), control_(control), program_(program) {}

    // Returns the program's wait status.
    int watch() {
        sigset_t none;
        sigemptyset(&none);
        while (!ended_ && getppid() == parent_) {
            pollfd ready{control_, POLLIN, 0};
            const timespec wait{POLL_MILLISECONDS / 1000, 0};
            const int count = ppoll_or_poll(&ready, POLL_MILLISECONDS < 0 ? nullptr : &wait, none);
            reap();
            if (count > 0 && !obey()) break;
        }
        kill_all();
        return status_;
    }

  private:
    static int ppoll_or_poll(pollfd* ready, const timespec* wait, const sigset_t& mask) {
#if defined(__linux__)
        return ppoll(ready, 1, wait, &mask);  // blocked signals arrive only here
#else
        (void)mask;
        return poll(ready, 1, wait ? int(wait->tv_sec * 1000) : -1);
#endif
    }

    // Executes a command from CONTROL; false: kill.
    bool obey() {
        char command = 0;
        if (read(control_, &command, 1) != 1 || command != 't') return false;
        if (!ended_) kill(-program_, SIGTERM);
        return true;
    }

    // Collects ended children; false if there are no more.
    bool reap() {
        for (;;) {
            siginfo_t info = {};
            if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return errno != ECHILD;
            if (info.si_pid == 0) return true;
            int status = 0;
            // Its group, while the number cannot be reused.
            if (info.si_pid == program_) kill(-program_, SIGKILL);
            waitpid(info.si_pid, &status, 0);
            if (info.si_pid == program_) {
                ended_ = true;
                status_ = status;
            }
        }
    }

    // Orphans of a killed process become our children, so repeat until there are none.
    void kill_all() {
        while (reap()) {
            if (!ended_) kill(-program_, SIGKILL);
            for (const pid_t id : descendants()) kill(id, SIGKILL);
            const timespec pause{0, PAUSE_NANOSECONDS};
            nanosleep(&pause, nullptr);
        }
    }

    pid_t parent_;
    int control_;
    pid_t program_;
    bool ended_ = false;
    int status_ = 0;
};

int end_like(int status) {
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    const int number = WTERMSIG(status);
    signal(number, SIG_DFL);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, nullptr);
    raise(number);
    return 128 + number;
}

void on_signal(int) {}

}  // namespace

int main(int count, char** words) {
    if (count < 6) {
        std::fprintf(stderr, "rookery-guard is started by Rookery, see core/guard/guard.cpp\n");
        return 2;
    }
    const auto argument = [&](int at) { return std::strtoull(words[at], nullptr, 10); };
    const auto parent = pid_t(argument(1));
    const int control = int(argument(2)), report = int(argument(3));
    const auto memory = rlim_t(argument(4));
    fcntl(control, F_SETFD, FD_CLOEXEC);
    fcntl(report, F_SETFD, FD_CLOEXEC);
    // A signal to Rookery's group must not end the guard before its work is done.
    for (const int ignored : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) signal(ignored, SIG_IGN);
    struct sigaction wake = {};
    wake.sa_handler = on_signal;
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int number : {SIGCHLD, PARENT_GONE}) {
        sigaction(number, &wake, nullptr);
        sigaddset(&blocked, number);
    }
    sigprocmask(SIG_BLOCK, &blocked, nullptr);
#if defined(__linux__)
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    // Sent when the thread that started us ends; only then has the parent changed as well.
    prctl(PR_SET_PDEATHSIG, PARENT_GONE);
#endif
    const pid_t program = fork();
    if (program == 0) start_program(words + 5, report, memory);
    if (program < 0) {
        dprintf(report, "error %d\n", errno);
        return CANNOT_START;
    }
    dprintf(report, "%d\n", int(program));
    // The program's streams and the report end when the program's do.
    for (const int stream : {0, 1, 2, report}) close(stream);
    return end_like(Guard(parent, control, program).watch());
}
