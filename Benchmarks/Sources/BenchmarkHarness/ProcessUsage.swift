import Glibc

/// What this process has used so far, all threads together.
package enum ProcessUsage {
    /// In user and kernel mode.
    package static var cpuSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// The most memory that was resident at a time since ``forgetPeak()``, in bytes.
    ///
    /// `ru_maxrss` will not do: it starts with what the process that started this one had.
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

    /// Lets the peak start again from what is resident now.
    package static func forgetPeak() {
        guard let file = fopen("/proc/self/clear_refs", "w") else { return }
        fputs("5", file)
        fclose(file)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}
