import Foundation

/// How much memory of a process the system keeps in memory.
package enum ProcessMemory {
    /// The resident bytes of a process, by its id or `self`; 0 when it does not run.
    package static func residentBytes(of process: String) -> Int {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8) else { return 0 }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
    }
}
