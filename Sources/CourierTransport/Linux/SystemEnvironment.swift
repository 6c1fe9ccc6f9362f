import Glibc

/// The variables of this process.
enum SystemEnvironment {
    /// The value of a variable, `nil` where there is none.
    static func value(of name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
