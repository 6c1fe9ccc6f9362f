import Foundation

/// The current boot of the operating system.
///
/// Stores of messages and clients need the boot id. This target depends on no other target, so the file is here.
enum SystemBoot {
    /// The id of the current boot, a UUID as text; `nil` on a system without boot ids. Only Linux has them. Each boot
    /// has a different id.
    static var id: String? {
        #if os(Linux)
            let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            return text?.trimmingCharacters(in: .whitespacesAndNewlines)
        #else
            return nil
        #endif
    }
}
