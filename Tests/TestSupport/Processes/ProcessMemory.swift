import Foundation

/// Reads the resident memory of a process.
package enum ProcessMemory {
    /// Returns the number of resident bytes of a process, given its id or `self`. Returns 0 if it does not run.
    package static func residentBytes(of process: String) -> Int {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8) else { return 0 }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
    }
}
