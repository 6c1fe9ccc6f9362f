import Foundation

/// The current boot of the operating system.
///
/// Message stores and clients need the boot id. The file is in this target, because both depend on this target.
enum SystemBoot {
    /// The id of the current boot, a UUID as text; `nil` on a system without boot ids. Only Linux has boot ids. Each
    /// boot has a different id.
    static var id: String? {
        #if os(Linux)
            let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            return text?.trimmingCharacters(in: .whitespacesAndNewlines)
        #else
            return nil
        #endif
    }
}
