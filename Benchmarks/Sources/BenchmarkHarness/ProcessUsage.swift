import Glibc

/// The resources that this process has used since its start, in all threads.
package enum ProcessUsage {
    /// The CPU time in user and kernel mode.
    package static var cpuSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// The maximum resident memory in bytes since ``forgetPeak()``.
    ///
    /// `ru_maxrss` cannot be used, because it starts with the value of the parent process.
    package static var peakBytes: Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0 {
            guard let line, strncmp(line, "VmHWM:", 6) == 0 else { continue }
            return strtol(line + 6, nil, 10) * 1_024
        }
        return 0
    }

    /// Resets the peak to the current resident memory.
    package static func forgetPeak() {
        guard let file = fopen("/proc/self/clear_refs", "w") else { return }
        fputs("5", file)
        fclose(file)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}
