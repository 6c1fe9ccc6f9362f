#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The limit of open files of this process.
enum OpenFileLimit {
    /// Raises the soft limit to the hard limit if the soft limit is less than the needed number.
    ///
    /// - Parameter needed: The number of open files.
    /// - Returns: The hard limit if it is too small. `nil` if the process may open the needed number of files, or if
    ///   the system does not report its limit.
    static func raise(to needed: Int) -> UInt64? {
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        let needed = rlim_t(needed)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < needed else { return nil }
        limit.rlim_cur = limit.rlim_max
        guard limit.rlim_max >= needed, setrlimit(resource, &limit) == 0 else { return UInt64(limit.rlim_max) }
        return nil
    }
}
