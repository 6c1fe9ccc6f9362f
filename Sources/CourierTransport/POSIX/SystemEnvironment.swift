#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Musl)
    import CLinux
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The environment variables of this process.
enum SystemEnvironment {
    /// Returns the value of a variable; `nil` if it is not set.
    static func value(of name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
